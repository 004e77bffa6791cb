// What streams carry besides events; the document of the API does not describe it.
import type { DeltaKind } from './types';

export interface Delta {
  kind: DeltaKind;
  text?: string;
  [member: string]: unknown;
}
