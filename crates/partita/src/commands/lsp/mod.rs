//! `partita lsp`: the review in an editor, over standard input and output. Diagnostics while typing, hover explains the rule, a quick fix
//! applies the repair.
//!
//! Open documents of one folder are reviewed together, so that a schema and the statements beside it know each other. Nothing is
//! read from disk and nothing is sent anywhere else.

mod documents;
mod position;
mod wire;

use super::Failure;
use super::review::For;
use clap::Args;
use documents::Documents;
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};

/// JSON-RPC's own numbers.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_REQUEST: i64 = -32600;
const PARSE_ERROR: i64 = -32700;
const NOT_INITIALIZED: i64 = -32002;

/// Options of `partita lsp`.
#[derive(Args)]
pub struct LspOptions {
    /// Where repairs are to run: anywhere, or on Partita (a bucketing clause)
    #[arg(long, value_enum, default_value_t = For::Cassandra)]
    target: For,
}

/// Serves one editor until it says `exit` or closes the stream.
pub fn run(options: &LspOptions) -> Result<(), Failure> {
    let mut input = BufReader::new(io::stdin().lock());
    let documents = Documents::for_target(options.target.into());
    let mut server = Server { out: io::stdout().lock(), documents, state: State::New };
    loop {
        let message = match wire::read(&mut input) {
            Ok(Some(message)) => message,
            // An editor that goes away without `exit` is no failure of ours.
            Ok(None) => return Ok(()),
            Err(wire::Trouble::Json(error)) => {
                server.refuse(&Value::Null, PARSE_ERROR, &error).map_err(gone)?;
                continue;
            }
            Err(wire::Trouble::Stream(error)) => return Err(Failure::Failed(format!("lsp: {error}"))),
        };
        match server.handle(&message).map_err(gone)? {
            Next::Continue => {}
            Next::Exit if server.state == State::Shutdown => return Ok(()),
            Next::Exit => return Err(Failure::Failed("lsp: exit without shutdown".into())),
        }
    }
}

fn gone(error: io::Error) -> Failure {
    Failure::Failed(format!("lsp: the editor does not read any more: {error}"))
}

#[derive(PartialEq, Eq)]
enum State {
    New,
    Ready,
    Shutdown,
}

enum Next {
    Continue,
    Exit,
}

struct Server<W> {
    out: W,
    documents: Documents,
    state: State,
}

impl<W: Write> Server<W> {
    fn handle(&mut self, message: &Value) -> io::Result<Next> {
        let method = message["method"].as_str().unwrap_or("");
        let params = &message["params"];
        match message.get("id") {
            Some(id) if !method.is_empty() => self.request(id, method, params)?,
            // An answer to something we asked: we ask nothing.
            Some(_) => {}
            None if method == "exit" => return Ok(Next::Exit),
            None => self.notification(method, params)?,
        }
        Ok(Next::Continue)
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> io::Result<()> {
        match (method, &self.state) {
            ("initialize", State::New) => {
                self.state = State::Ready;
                self.answer(id, capabilities())
            }
            (_, State::New) => self.refuse(id, NOT_INITIALIZED, "initialize comes first"),
            ("initialize", _) => self.refuse(id, INVALID_REQUEST, "initialize comes once"),
            (_, State::Shutdown) => self.refuse(id, INVALID_REQUEST, "the server was shut down"),
            ("shutdown", _) => {
                self.state = State::Shutdown;
                self.answer(id, Value::Null)
            }
            ("textDocument/hover", _) => {
                let hover = self.documents.hover(params);
                self.answer(id, hover)
            }
            ("textDocument/codeAction", _) => {
                let actions = self.documents.actions(params);
                self.answer(id, actions)
            }
            _ => self.refuse(id, METHOD_NOT_FOUND, &format!("{method} is not served")),
        }
    }

    fn notification(&mut self, method: &str, params: &Value) -> io::Result<()> {
        if self.state != State::Ready {
            return Ok(());
        }
        let changed = match method {
            "textDocument/didOpen" => self.documents.open(params),
            "textDocument/didChange" => self.documents.change(params),
            "textDocument/didClose" => self.documents.close(params),
            _ => Vec::new(),
        };
        for diagnostics in changed {
            let message =
                json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": diagnostics});
            wire::write(&mut self.out, &message)?;
        }
        Ok(())
    }

    fn answer(&mut self, id: &Value, result: Value) -> io::Result<()> {
        wire::write(&mut self.out, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn refuse(&mut self, id: &Value, code: i64, message: &str) -> io::Result<()> {
        let error = json!({"code": code, "message": message});
        wire::write(&mut self.out, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            // Whole texts: a review looks at all of it anyway.
            "textDocumentSync": {"openClose": true, "change": 1},
            "hoverProvider": true,
            "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        },
        "serverInfo": {"name": "partita", "version": env!("CARGO_PKG_VERSION")},
    })
}
