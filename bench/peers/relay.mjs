// What one would write in Node.js: the stream of the AI SDK piped into the response. Arguments: port, port of the provider.
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const [port, providerPort] = process.argv.slice(2).map(Number);
const provider = createOpenAICompatible({ name: 'bench', apiKey: 'none', baseURL: `http://127.0.0.1:${providerPort}/v1` });

createServer((request, response) => {
  if (request.url === '/ready') {
    response.end('yes');
    return;
  }
  streamText({ model: provider('m'), prompt: 'Go on' }).pipeTextStreamToResponse(response);
}).listen(port, '127.0.0.1');
