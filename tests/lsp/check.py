"""What an editor sees of `partita lsp`: diagnostics, hover, quick fixes, and that nothing it says ends the server.

usage: check.py PARTITA-BINARY, with pygls installed. Every quick fix is applied to the text, and the result is opened again.
"""
import asyncio
import sys
import traceback

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

WAIT_SECONDS_MAX = 20

CQL = """-- Grüße 🦀
CREATE TABLE sensor_readings (sensor_id uuid, recorded_at timestamp, value double, PRIMARY KEY (sensor_id, recorded_at));
"""
SOUND = "CREATE TABLE users (user_id uuid PRIMARY KEY, name text);\n"
QUERIES = "SELECT * FROM users WHERE user_id = ?;\nSELECT * FROM nowhere WHERE a = ?;\n"
TERRAFORM = """resource "aws_dynamodb_table" "sessions" {
  name     = "sessions"
  hash_key = "session_id"
  attribute {
    name = "session_id"
    type = "S"
  }
}
"""
OPERATIONS = """[
  {"op": "PutItem", "table": "sessions", "item": {"session_id": "<id>", "expires_at": "<epoch_seconds>"}},
  {"op": "UpdateItem", "table": "sessions", "after": "GetItem", "key": {"session_id": "<id>"}, "update": "SET credit = :c"}
]
"""


class Editor:
    """A client that remembers the latest diagnostics of every document."""

    def __init__(self):
        self.client = BaseLanguageClient("check", "1")
        self.latest, self.arrived = {}, asyncio.Condition()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def _(params):
            async with self.arrived:
                self.latest.setdefault(params.uri, []).append(params.diagnostics)
                self.arrived.notify_all()

    async def start(self, binary):
        await self.client.start_io(binary, "lsp")
        return await self.client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(), process_id=None, root_uri=None)
        )

    async def diagnostics(self, uri, count):
        """The diagnostics of the document's count-th publication."""
        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(lambda: len(self.latest.get(uri, [])) >= count), WAIT_SECONDS_MAX)
            return list(self.latest[uri][count - 1])

    def open(self, uri, text, language="cql"):
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def change(self, uri, text, version=2):
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                content_changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )

    async def hover(self, uri, position):
        return await self.client.text_document_hover_async(
            types.HoverParams(text_document=types.TextDocumentIdentifier(uri=uri), position=position)
        )

    async def actions(self, uri, diagnostic):
        return await self.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=types.TextDocumentIdentifier(uri=uri),
                range=diagnostic.range,
                context=types.CodeActionContext(diagnostics=[diagnostic]),
            )
        )


def offset(text, position):
    """UTF-16 positions, computed here and not by the code under test."""
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position.line])
    units = lines[position.line].encode("utf-16-le")[: position.character * 2]
    return before + len(units.decode("utf-16-le"))


def applied(text, action, uri):
    for edit in action.edit.changes[uri]:
        text = text[: offset(text, edit.range.start)] + edit.new_text + text[offset(text, edit.range.end) :]
    return text


def rules(diagnostics):
    return {d.code for d in diagnostics}


async def cql_document(editor):
    uri = "file:///a/schema.cql"
    editor.open(uri, CQL)
    found = await editor.diagnostics(uri, 1)
    assert "unbounded-partition" in rules(found), found
    worst = next(d for d in found if d.code == "unbounded-partition")
    assert worst.severity == types.DiagnosticSeverity.Error and worst.source == "partita"
    marked = CQL[offset(CQL, worst.range.start) : offset(CQL, worst.range.end)]
    assert marked == "sensor_id", marked
    hover = await editor.hover(uri, worst.range.start)
    assert "unbounded-partition" in hover.contents.value and "Good:" in hover.contents.value
    assert await editor.hover(uri, types.Position(line=0, character=3)) is None
    actions = await editor.actions(uri, worst)
    repair = next(a for a in actions if a.is_preferred)
    assert repair.kind == types.CodeActionKind.QuickFix
    mended = applied(CQL, repair, uri)
    assert mended.startswith(CQL) and mended.count("CREATE TABLE") == 2, mended
    allow = next(a for a in actions if a.title.startswith("Allow unbounded-partition"))
    editor.change(uri, applied(CQL, allow, uri))
    assert "unbounded-partition" not in rules(await editor.diagnostics(uri, 2))
    editor.change(uri, SOUND, 3)
    assert await editor.diagnostics(uri, 3) == []


async def diagnostics_while_typing(editor):
    uri = "file:///typing/t.cql"
    editor.open(uri, "")
    assert await editor.diagnostics(uri, 1) == []
    for end in range(0, len(CQL), 7):
        editor.change(uri, CQL[:end])
    editor.change(uri, CQL)
    last = len(range(0, len(CQL), 7)) + 2
    assert "unbounded-partition" in rules(await editor.diagnostics(uri, last))


async def files_of_a_folder_know_each_other(editor):
    schema, queries = "file:///b/schema.cql", "file:///b/queries.cql"
    editor.open(queries, QUERIES)
    assert await editor.diagnostics(queries, 1) == [], "without any schema nothing is known to be wrong"
    editor.open(schema, SOUND)
    assert [d.range.start.line for d in await editor.diagnostics(queries, 2) if d.code is None] == [1]
    close = types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=schema))
    editor.client.text_document_did_close(close)
    assert await editor.diagnostics(schema, 2) == []
    assert await editor.diagnostics(queries, 3) == []


async def dynamodb_documents(editor):
    table, operations = "file:///c/table.tf", "file:///c/operations.json"
    editor.open(table, TERRAFORM, "terraform")
    await editor.diagnostics(table, 1)
    editor.open(operations, OPERATIONS, "json")
    missing = next(d for d in await editor.diagnostics(table, 2) if d.code == "missing-ttl")
    lost = next(d for d in await editor.diagnostics(operations, 1) if d.code == "lost-update")
    repair = next(a for a in await editor.actions(table, missing) if a.is_preferred)
    mended = applied(TERRAFORM, repair, table)
    assert "enabled        = true" in mended, mended
    editor.change(table, mended)
    assert "missing-ttl" not in rules(await editor.diagnostics(table, 3)), mended
    repair = next(a for a in await editor.actions(operations, lost) if a.is_preferred)
    count = len(editor.latest[operations])
    editor.change(operations, applied(OPERATIONS, repair, operations))
    assert "lost-update" not in rules(await editor.diagnostics(operations, count + 1))


async def nonsense_is_answered(editor):
    try:
        await editor.client.protocol.send_request_async("textDocument/noSuchThing", {})
    except Exception as error:
        assert "noSuchThing" in str(error), error
    else:
        raise AssertionError("an unknown request was answered")
    assert await editor.hover("file:///never/opened.cql", types.Position(line=9, character=9)) is None
    editor.change("file:///d/t.cql", "CREATE TABLE (((\x00 é")
    assert await editor.diagnostics("file:///d/t.cql", 1)


async def run(binary):
    passed = failed = 0
    checks = [cql_document, diagnostics_while_typing, files_of_a_folder_know_each_other, dynamodb_documents, nonsense_is_answered]
    editor = Editor()
    hello = await editor.start(binary)
    assert hello.server_info.name == "partita" and hello.capabilities.hover_provider
    for check in checks:
        try:
            await check(editor)
            passed += 1
            print(f"ok {check.__name__}")
        except Exception:
            failed += 1
            print(f"FAIL {check.__name__}: {traceback.format_exc()}")
    await editor.client.shutdown_async(None)
    process = editor.client._server
    editor.client.exit(None)
    code = await asyncio.wait_for(process.wait(), WAIT_SECONDS_MAX)
    if code == 0:
        passed += 1
        print("ok exit")
    else:
        failed += 1
        print(f"FAIL exit: ended with {code}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(run(sys.argv[1])) else 0)
