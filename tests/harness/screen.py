"""A small model of a terminal: what a program writes, as the rows that a person sees."""
import re
import unicodedata


def columns_of(character):
    """How many columns a character takes; 0 = it stands on the one before."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


SEQUENCE = re.compile(r"\x1b(?:\[([?>=]?)([0-9;]*)([@-~])|\]([^\x07\x1b]*)(?:\x07|\x1b\\)|([@-Z\\^_a-z]))")
PARTIAL = re.compile(r"\x1b(?:\[[?>=]?[0-9;]*|\][^\x07\x1b]*)?$")


class Screen:
    """Rows of cells with a cursor, as xterm has them; rows that scroll out are kept in `above`."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [self.blank() for _ in range(rows)]
        self.above = []
        self.row = self.column = 0
        self.wraps = False  # the last column was written: the next character goes to the next row
        self.modes = set()
        self.pending = ""
        self.unknown = []  # what this model does not know: a test asks that there is nothing

    def blank(self):
        return [""] * self.columns

    def feed(self, text):
        """Takes what the program wrote, in any pieces."""
        text, self.pending = self.pending + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            match = SEQUENCE.match(text, at)
            if not match and PARTIAL.match(text, at):
                self.pending = text[at:]
                return
            if not match:
                self.unknown.append(text[at:at + 10])
                at += 1
                continue
            self.obey(*match.groups())
            at = match.end()

    def obey(self, mark, numbers, final, title, other):
        """One escape sequence."""
        if final is None:
            self.unknown.append(title or other)
            return
        values = [int(number or 0) for number in numbers.split(";")]
        first = max(1, values[0])
        if mark == "?" and final in "hl":
            (self.modes.add if final == "h" else self.modes.discard)(values[0])
        elif final == "m":
            pass
        elif final == "A":
            self.move(self.row - first, self.column)
        elif final == "B":
            self.move(self.row + first, self.column)
        elif final == "C":
            self.move(self.row, self.column + first)
        elif final == "D":
            self.move(self.row, self.column - first)
        elif final == "H":
            self.move(first - 1, max(1, (values + [1])[1]) - 1)
        elif final == "J" and values[0] in (0, 2):
            self.erase_below(self.row if values[0] == 0 else 0, self.column if values[0] == 0 else 0)
        elif final == "K" and values[0] == 0:
            self.cells[self.row][self.column:] = [""] * (self.columns - self.column)
        else:
            self.unknown.append(f"{mark}{numbers}{final}")

    def erase_below(self, row, column):
        self.cells[row][column:] = [""] * (self.columns - column)
        for below in range(row + 1, self.rows):
            self.cells[below] = self.blank()

    def move(self, row, column):
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)
        self.wraps = False

    def next_row(self):
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.above.append(self.cells.pop(0))
            self.cells.append(self.blank())

    def put(self, character):
        """A character that is not part of a sequence."""
        if character == "\n":
            self.next_row()
        elif character == "\r":
            self.move(self.row, 0)
        elif character == "\b":
            self.move(self.row, self.column - 1)
        elif character == "\a" or unicodedata.category(character) == "Cc":
            self.unknown.append(character)
        else:
            self.write(character)

    def write(self, character):
        width = columns_of(character)
        if width == 0:
            at = self.column if self.wraps else max(0, self.column - 1)
            self.cells[self.row][at] += character
            return
        if self.wraps or self.column + width > self.columns:
            self.next_row()
            self.column = 0
        self.wraps = False
        self.cells[self.row][self.column] = character
        if width == 2:
            self.cells[self.row][self.column + 1] = None  # the right half
        self.wraps = self.column + width >= self.columns
        self.column = min(self.column + width, self.columns - 1)

    def resize(self, columns, rows):
        """As xterm does: rows are cut or filled, nothing is wrapped anew; the lowest rows stay."""
        while len(self.cells) > rows:
            if self.row + 1 < len(self.cells):
                self.cells.pop()
            else:
                self.above.append(self.cells.pop(0))
                self.row -= 1
        self.columns = columns
        self.cells = [(row + [""] * columns)[:columns] for row in self.cells]
        self.cells += [self.blank() for _ in range(rows - len(self.cells))]
        self.rows = rows
        self.move(self.row, self.column)

    @staticmethod
    def text_of(cells):
        return "".join(" " if cell == "" else cell or "" for cell in cells).rstrip()

    def lines(self):
        """The visible rows, without those below the last that has something."""
        lines = [self.text_of(row) for row in self.cells]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def text(self):
        """The visible rows as one text."""
        return "\n".join(self.lines())

    def everything(self):
        """Also what scrolled out."""
        return "\n".join([self.text_of(row) for row in self.above] + self.lines())

    def line_at_cursor(self):
        """The row of the cursor, and what stands before it."""
        return self.text_of(self.cells[self.row]), self.text_of(self.cells[self.row][:self.column])
