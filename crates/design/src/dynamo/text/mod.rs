//! Texts that hold table definitions (JSON, YAML, HCL) to one kind of tree, every node with its place.
//!
//! Only the parts of YAML and HCL that definitions use are read. Interpolations and tags stay text: nothing is evaluated.
//! Depth is bounded, so no input overflows the stack.

mod flow;
mod hcl;
mod yaml;

use cql_syntax::Span;

/// Nesting beyond this is refused: real definitions stay below twenty.
const DEPTH_MAX: usize = 64;
/// Longer texts are refused: places are 32 bits, and a definition of this size is a mistake.
const TEXT_BYTES_MAX: usize = 64 << 20;

/// A value with its place.
#[derive(Debug, Clone)]
pub struct Node {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// In order; HCL repeats a key for every block.
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

/// What a text holds.
#[derive(Debug)]
pub struct Parsed {
    pub root: Node,
    pub comments: Vec<Span>,
}

/// Why a text could not be read, and where.
#[derive(Debug)]
pub struct Unreadable {
    pub span: Span,
    pub message: String,
}

impl Unreadable {
    fn at(offset: usize, message: impl Into<String>) -> Unreadable {
        let start = offset as u32;
        Unreadable { span: Span::new(start, start + 1), message: message.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Json,
    Yaml,
    Hcl,
}

/// Reads a text of a known language.
pub fn parse(text: &str, language: Language) -> Result<Parsed, Unreadable> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Unreadable::at(0, "the file is larger than 64 MiB"));
    }
    match language {
        Language::Json => flow::json(text),
        Language::Yaml => yaml::parse(text),
        Language::Hcl => hcl::parse(text),
    }
}

static NULL: Node = Node { kind: Kind::Null, span: Span::new(0, 0) };

impl Node {
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; a single value counts as a list of one, as HCL blocks do.
    pub fn items(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Null => Vec::new(),
            _ => vec![self],
        }
    }

    pub fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_))
    }

    /// The value of the first of these keys, whatever their case.
    pub fn get(&self, names: &[&str]) -> Option<&Node> {
        self.entry(names).map(|entry| &entry.value).filter(|node| !matches!(node.kind, Kind::Null))
    }

    pub fn entry(&self, names: &[&str]) -> Option<&Entry> {
        names.iter().find_map(|name| self.entries().iter().find(|e| e.key.eq_ignore_ascii_case(name)))
    }

    /// The value, or null.
    pub fn at(&self, names: &[&str]) -> &Node {
        self.get(names).unwrap_or(&NULL)
    }

    /// Every value of this key: repeated blocks, or the elements of a list.
    pub fn all(&self, name: &str) -> Vec<&Node> {
        let named = self.entries().iter().filter(|e| e.key.eq_ignore_ascii_case(name));
        named.flat_map(|e| e.value.items()).collect()
    }

    /// A scalar as text; what a reference of CloudFormation names.
    pub fn text(&self) -> Option<String> {
        match &self.kind {
            Kind::Text(text) | Kind::Number(text) => Some(text.clone()),
            Kind::Bool(value) => Some(value.to_string()),
            Kind::Map(entries) => match entries.as_slice() {
                [only] if only.key == "Ref" || only.key.starts_with("Fn::") => only.value.text(),
                _ => None,
            },
            // `!Join ['-', [a, b]]`, `!Sub [text, {...}]`: the texts one after another say enough to know the name again.
            Kind::List(items) => {
                let texts: Vec<String> =
                    items.iter().filter(|item| !item.is_map()).filter_map(Node::text).collect();
                (!texts.is_empty()).then(|| texts.concat())
            }
            Kind::Null => None,
        }
    }

    pub fn boolean(&self) -> Option<bool> {
        match &self.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Text(text) if text.eq_ignore_ascii_case("true") => Some(true),
            Kind::Text(text) if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match &self.kind {
            Kind::Number(text) | Kind::Text(text) => {
                text.trim().parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ if is_number(text) => Kind::Number(text.to_string()),
        _ => Kind::Text(text.to_string()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'))
        && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(node: &Node) -> String {
        match &node.kind {
            Kind::Null => "null".into(),
            Kind::Bool(value) => value.to_string(),
            Kind::Number(text) => text.clone(),
            Kind::Text(text) => format!("{text:?}"),
            Kind::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
            Kind::Map(entries) => {
                let all: Vec<String> =
                    entries.iter().map(|e| format!("{}={}", e.key, shown(&e.value))).collect();
                format!("{{{}}}", all.join(" "))
            }
        }
    }

    #[track_caller]
    fn check(language: Language, text: &str, expected: &str) {
        let parsed = parse(text, language).unwrap_or_else(|e| panic!("{}: {}", e.span.start, e.message));
        assert_eq!(shown(&parsed.root), expected);
    }

    #[test]
    fn json_is_read_with_escapes() {
        check(
            Language::Json,
            r#"{"a": [1, -2.5e3, true, null], "b": {"c": "x\n\u00e9"}}"#,
            r#"{a=[1 -2.5e3 true null] b={c="x\né"}}"#,
        );
        for broken in ["{", "[1,", "{\"a\" 1}", "[1 2]", "\"", "{\"a\":}", "nul", "[1] x", ""] {
            assert!(parse(broken, Language::Json).is_err(), "{broken}");
        }
        assert!(parse(&"[".repeat(100_000), Language::Json).is_err());
    }

    #[test]
    fn yaml_is_read_as_cloudformation_writes_it() {
        check(
            Language::Yaml,
            "# first\nResources:\n  Orders:\n    Type: 'AWS::DynamoDB::Table' # a table\n    Properties:\n      TableName: !Sub \"${Stage}-orders\"\n      KeySchema:\n      - AttributeName: pk\n        KeyType: HASH\n      - {AttributeName: sk, KeyType: RANGE}\n      Arn: !GetAtt Orders.Arn\n      Note: |\n        two\n        # lines\n      Last: a\n        b\n",
            r##"{Resources={Orders={Type="AWS::DynamoDB::Table" Properties={TableName="${Stage}-orders" KeySchema=[{AttributeName="pk" KeyType="HASH"} {AttributeName="sk" KeyType="RANGE"}] Arn="Orders.Arn" Note="two\n# lines" Last="a b"}}}}"##,
        );
        check(Language::Yaml, "a:\n  - - 1\n    - 2\n  -\n    b: c\nd:\n", "{a=[[1 2] {b=\"c\"}] d=null}");
        check(
            Language::Yaml,
            "a: !If [x, 'y', \"z\"]\nb: !Join\n  - '-'\n  - [c, d]\n",
            r#"{a=["x" "y" "z"] b=["-" ["c" "d"]]}"#,
        );
    }

    #[test]
    fn hcl_is_read_as_terraform_writes_it() {
        check(
            Language::Hcl,
            "# c\nresource \"aws_dynamodb_table\" \"orders\" {\n  name = \"${var.p}-orders\" // x\n  hash_key=\"pk\"\n  attribute {\n    name = \"pk\"\n    type = \"S\"\n  }\n  attribute { \n name = \"sk\" \n }\n  tags = merge(local.tags, {\n    a = 1\n  })\n  list = [\"a\", var.b, 3]\n  on = var.x ? \"A\" : \"B\"\n  text = <<-EOT\n    hello\n    EOT\n  read = null\n}\n",
            r#"{resource={aws_dynamodb_table={orders={name="${var.p}-orders" hash_key="pk" attribute={name="pk" type="S"} attribute={name="sk"} tags="merge(local.tags, {\n    a = 1\n  })" list=["a" "var.b" 3] on="var.x ? \"A\" : \"B\"" text="    hello" read=null}}}}"#,
        );
        for broken in ["resource \"a\" {", "a = ", "= 1", "a = [1", "a \"b\""] {
            assert!(parse(broken, Language::Hcl).is_err(), "{broken}");
        }
        assert!(parse(&"a {\n".repeat(100_000), Language::Hcl).is_err());
        assert!(parse(&"- ".repeat(100_000), Language::Yaml).is_err());
    }
}
