//! Table definitions in every form that is read, to [`Table`]s.

use super::model::{Form, Index, Key, Model, Projection, Table, Ttl};
use super::operations::template;
use super::text::{Entry, Kind, Node};
use crate::source::Place;
use crate::vocabulary::words;
use cql_syntax::Span;
use std::collections::HashMap;

/// How deep a definition may be hidden in a document.
const DEPTH_MAX: usize = 12;

/// Adds the tables of a document.
pub fn read(root: &Node, file: usize, is_hcl: bool, model: &mut Model) {
    let mut reader = Reader { file, known: HashMap::new(), model };
    if is_hcl {
        reader.known = variables(root);
    }
    reader.walk(root, 0);
}

/// Defaults of variables and locals that are plain texts.
fn variables(root: &Node) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for entry in root.all("variable").iter().flat_map(|node| node.entries()) {
        if let Some(text) = entry.value.at(&["default"]).text() {
            known.insert(format!("var.{}", entry.key), text);
        }
    }
    for entry in root.all("locals").iter().flat_map(|node| node.entries()) {
        if let Some(text) = entry.value.text() {
            known.insert(format!("local.{}", entry.key), text);
        }
    }
    known
}

struct Reader<'m> {
    file: usize,
    known: HashMap<String, String>,
    model: &'m mut Model,
}

impl Reader<'_> {
    /// Looks for definitions in a document, whatever surrounds them.
    fn walk(&mut self, node: &Node, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        match &node.kind {
            Kind::List(items) => items.iter().for_each(|item| self.walk(item, depth + 1)),
            Kind::Map(entries) => {
                if self.definition(node) {
                    return;
                }
                for entry in entries {
                    match entry.key.as_str() {
                        "resource" => {
                            for typed in
                                entry.value.entries().iter().filter(|e| e.key == "aws_dynamodb_table")
                            {
                                typed.value.entries().iter().for_each(|e| self.terraform(e));
                            }
                        }
                        "module" => {
                            let is_module = |e: &&Entry| {
                                e.value.at(&["source"]).text().is_some_and(|s| s.contains("dynamodb-table"))
                            };
                            entry.value.entries().iter().filter(is_module).for_each(|e| self.terraform(e));
                        }
                        "operations" | "Operations" => {}
                        _ if self.cloudformation(entry) => {}
                        _ => self.walk(&entry.value, depth + 1),
                    }
                }
            }
            _ => {}
        }
    }

    /// A map that is a definition by itself. Whether it was one.
    fn definition(&mut self, node: &Node) -> bool {
        if node.get(&["op", "operation"]).is_some() {
            return false;
        }
        if node.get(&["KeySchema"]).is_some_and(|n| !n.items().is_empty())
            && node.get(&["TableName"]).is_some()
        {
            self.properties(node, node.at(&["TableName"]).text(), None, Form::Json, node.span);
            return true;
        }
        if node.get(&["KeyAttributes"]).is_some() && node.get(&["TableName"]).is_some() {
            self.workbench(node);
            return true;
        }
        if node.get(&["hash"]).is_some() && node.get(&["table", "name"]).is_some() {
            self.short(node);
            return true;
        }
        false
    }

    fn cloudformation(&mut self, entry: &Entry) -> bool {
        let kind = entry.value.at(&["Type"]).text().unwrap_or_default();
        let properties = entry.value.at(&["Properties"]);
        let span = Span::new(entry.key_span.start, entry.value.span.end);
        match kind.as_str() {
            "AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable" => {
                let name = properties.at(&["TableName"]).text();
                self.properties(properties, name, Some(entry), Form::CloudFormation, span);
            }
            "AWS::Serverless::SimpleTable" => {
                let key = properties.at(&["PrimaryKey"]);
                let attribute = key.at(&["Name"]).text().unwrap_or_else(|| "id".into());
                let at = key.get(&["Name"]).map_or(entry.key_span, |n| n.span);
                let hash = Key::new(&attribute, kind_of(key.at(&["Type"])).or(Some('S')), at);
                let name = properties.at(&["TableName"]).text().unwrap_or_else(|| entry.key.clone());
                self.push(name, vec![entry.key.clone()], Form::CloudFormation, span, hash, None);
            }
            _ => return false,
        }
        true
    }

    /// `CreateTable`, `describe-table`, and the properties of a CloudFormation resource: the words are the same.
    fn properties(
        &mut self,
        node: &Node,
        name: Option<String>,
        entry: Option<&Entry>,
        form: Form,
        span: Span,
    ) {
        let types = types(&node.at(&["AttributeDefinitions"]).items());
        let Some((hash, range)) = schema(node.at(&["KeySchema"]), &types) else { return };
        let label = entry.map(|e| e.key.clone());
        let name = name.or_else(|| label.clone()).unwrap_or_default();
        let table = self.push(name, label.into_iter().collect(), form, span, hash, range);
        for (key, is_local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
            for index in node.at(&[key]).items() {
                let Some((hash, range)) = schema(index.at(&["KeySchema"]), &types) else { continue };
                let projection = index.at(&["Projection"]);
                table.indexes.push(Index {
                    name: index.at(&["IndexName"]).text().unwrap_or_default(),
                    hash,
                    range,
                    is_local,
                    projection: projected(
                        projection.at(&["ProjectionType"]),
                        projection.at(&["NonKeyAttributes"]),
                    ),
                    span: index.span,
                });
            }
        }
        let ttl = node.at(&["TimeToLiveSpecification", "TimeToLiveDescription"]);
        table.ttl = enabled_ttl(ttl, ttl.at(&["AttributeName"]));
    }

    fn terraform(&mut self, entry: &Entry) {
        let node = &entry.value;
        let types = types(&[node.all("attribute"), node.all("attributes")].concat());
        let key = |node: &Node, name: &str| {
            let value = node.get(&[name])?;
            let attribute = self.resolved(&value.text()?);
            Some(Key::new(&attribute, types.get(&attribute).copied(), value.span))
        };
        let Some(hash) = key(node, "hash_key") else { return };
        let range = key(node, "range_key");
        let mut indexes = Vec::new();
        for (names, is_local) in [
            (["global_secondary_index", "global_secondary_indexes"], false),
            (["local_secondary_index", "local_secondary_indexes"], true),
        ] {
            for index in names.iter().flat_map(|name| node.all(name)) {
                let by_schema = schema_blocks(index, &types);
                let own = if is_local { Some(hash.clone()) } else { key(index, "hash_key") };
                let Some(index_hash) = own.or_else(|| by_schema.first().cloned()) else { continue };
                indexes.push(Index {
                    name: self.resolved(&index.at(&["name"]).text().unwrap_or_default()),
                    hash: index_hash,
                    range: key(index, "range_key").or_else(|| by_schema.get(1).cloned()),
                    is_local,
                    projection: projected(index.at(&["projection_type"]), index.at(&["non_key_attributes"])),
                    span: index.span,
                });
            }
        }
        let ttl = node.at(&["ttl"]);
        let mut ttl = enabled_ttl(ttl, ttl.at(&["attribute_name"]));
        if ttl.is_none() && node.at(&["ttl_enabled"]).boolean() == Some(true) {
            let attribute = node.at(&["ttl_attribute_name"]);
            ttl = attribute
                .text()
                .map(|attribute_name| Ttl { attribute: attribute_name, span: attribute.span });
        }
        let name = self.resolved(&node.at(&["name"]).text().unwrap_or_else(|| entry.key.clone()));
        let table = self.push(name, vec![entry.key.clone()], Form::Terraform, node.span, hash, range);
        table.indexes = indexes;
        table.ttl = ttl;
    }

    /// `var.x` and `local.x` where the same file says what they are.
    fn resolved(&self, text: &str) -> String {
        let bare = text.trim().trim_start_matches("${").trim_end_matches('}');
        self.known.get(bare).cloned().unwrap_or_else(|| text.to_string())
    }

    fn workbench(&mut self, node: &Node) {
        let key = |keys: &Node, which: &str| {
            let key = keys.get(&[which])?;
            let name = key.get(&["AttributeName"])?;
            Some(Key::new(&name.text()?, kind_of(key.at(&["AttributeType"])), name.span))
        };
        let keys = node.at(&["KeyAttributes"]);
        let Some(hash) = key(keys, "PartitionKey") else { return };
        let range = key(keys, "SortKey");
        let name = node.at(&["TableName"]).text().unwrap_or_default();
        let table = self.push(name, Vec::new(), Form::Workbench, node.span, hash, range);
        for index in node.at(&["GlobalSecondaryIndexes"]).items() {
            let keys = index.at(&["KeyAttributes"]);
            let Some(hash) = key(keys, "PartitionKey") else { continue };
            let projection = index.at(&["Projection"]);
            table.indexes.push(Index {
                name: index.at(&["IndexName"]).text().unwrap_or_default(),
                hash,
                range: key(keys, "SortKey"),
                is_local: false,
                projection: projected(
                    projection.at(&["ProjectionType"]),
                    projection.at(&["NonKeyAttributes"]),
                ),
                span: index.span,
            });
        }
        for item in node.at(&["TableData"]).items() {
            table.samples.push(
                item.entries().iter().filter_map(|e| Some((e.key.clone(), template(&e.value)?))).collect(),
            );
        }
    }

    /// `{"table": "orders", "hash": "pk", "range": "sk", "indexes": [...], "ttl": "expires"}`: for tables that code makes.
    fn short(&mut self, node: &Node) {
        let mut types: HashMap<String, char> = HashMap::new();
        for entry in node.at(&["types"]).entries() {
            types.extend(kind_of(&entry.value).map(|kind| (entry.key.clone(), kind)));
        }
        let key = |node: &Node, name: &str| {
            let value = node.get(&[name])?;
            let attribute = value.text()?;
            Some(Key::new(&attribute, types.get(&attribute).copied(), value.span))
        };
        let Some(hash) = key(node, "hash") else { return };
        let name = node.at(&["table", "name"]).text().unwrap_or_default();
        let mut indexes = Vec::new();
        for index in node.at(&["indexes"]).items() {
            let is_local = index.at(&["local"]).boolean() == Some(true);
            let Some(index_hash) = key(index, "hash").or_else(|| is_local.then(|| hash.clone())) else {
                continue;
            };
            let projection = index.at(&["projection"]);
            let projection = match &projection.kind {
                Kind::List(items) => Projection::Include(items.iter().filter_map(Node::text).collect()),
                _ => projected(projection, index.at(&["include"])),
            };
            let name = index.at(&["name"]).text().unwrap_or_default();
            indexes.push(Index {
                name,
                hash: index_hash,
                range: key(index, "range"),
                is_local,
                projection,
                span: index.span,
            });
        }
        let ttl = node.get(&["ttl"]).and_then(|n| Some(Ttl { attribute: n.text()?, span: n.span }));
        let range = key(node, "range");
        let samples = node.at(&["samples"]).items().into_iter().map(|item| {
            item.entries().iter().filter_map(|e| Some((e.key.clone(), template(&e.value)?))).collect()
        });
        let samples: Vec<_> = samples.collect();
        let table = self.push(name, Vec::new(), Form::Short, node.span, hash, range);
        table.indexes = indexes;
        table.ttl = ttl;
        table.samples = samples;
    }

    fn push(
        &mut self,
        name: String,
        aliases: Vec<String>,
        form: Form,
        span: Span,
        hash: Key,
        range: Option<Key>,
    ) -> &mut Table {
        let mut table_words = words(&super::model::plain_text(&name));
        if table_words.is_empty() {
            table_words = aliases.iter().flat_map(|alias| words(alias)).collect();
        }
        self.model.tables.push(Table {
            name,
            aliases,
            form,
            place: Place { file: self.file, span },
            hash,
            range,
            indexes: Vec::new(),
            ttl: None,
            samples: Vec::new(),
            words: table_words,
        });
        let last = self.model.tables.len() - 1;
        &mut self.model.tables[last]
    }
}

fn kind_of(node: &Node) -> Option<char> {
    let text = node.text()?;
    match text.to_ascii_lowercase().as_str() {
        "s" | "string" => Some('S'),
        "n" | "number" => Some('N'),
        "b" | "binary" => Some('B'),
        _ => None,
    }
}

fn types(attributes: &[&Node]) -> HashMap<String, char> {
    let of = |node: &&Node| {
        let name = node.at(&["AttributeName", "name"]).text()?;
        Some((name, kind_of(node.at(&["AttributeType", "type"]))?))
    };
    attributes.iter().filter_map(of).collect()
}

/// Hash and range of a key schema.
fn schema(node: &Node, types: &HashMap<String, char>) -> Option<(Key, Option<Key>)> {
    let (mut hash, mut range) = (None, None);
    for item in node.items() {
        let Some(name) = item.get(&["AttributeName"]) else { continue };
        let Some(text) = name.text() else { continue };
        let key = Key::new(&text, types.get(&text).copied(), name.span);
        match item.at(&["KeyType"]).text().unwrap_or_default().to_ascii_uppercase().as_str() {
            "RANGE" => range = Some(key),
            _ if hash.is_none() => hash = Some(key),
            _ => {}
        }
    }
    Some((hash?, range))
}

/// `key_schema` blocks of newer Terraform providers, hash first.
fn schema_blocks(index: &Node, types: &HashMap<String, char>) -> Vec<Key> {
    let mut keys: Vec<(bool, Key)> = Vec::new();
    for block in index.all("key_schema") {
        let Some(name) = block.get(&["attribute_name"]) else { continue };
        let Some(text) = name.text() else { continue };
        let is_range = block.at(&["key_type"]).text().is_some_and(|kind| kind == "RANGE");
        keys.push((is_range, Key::new(&text, types.get(&text).copied(), name.span)));
    }
    keys.sort_by_key(|(is_range, _)| *is_range);
    keys.into_iter().map(|(_, key)| key).collect()
}

fn projected(kind: &Node, included: &Node) -> Projection {
    match kind.text().unwrap_or_default().to_ascii_uppercase().as_str() {
        "KEYS_ONLY" => Projection::KeysOnly,
        "INCLUDE" => Projection::Include(included.items().iter().filter_map(|n| n.text()).collect()),
        _ => Projection::All,
    }
}

/// The TTL unless it is switched off by name.
fn enabled_ttl(node: &Node, attribute: &Node) -> Option<Ttl> {
    let status = node.at(&["TimeToLiveStatus"]).text();
    if node.at(&["enabled"]).boolean() == Some(false) || status.is_some_and(|s| s == "DISABLED") {
        return None;
    }
    Some(Ttl { attribute: attribute.text().filter(|text| !text.is_empty())?, span: attribute.span })
}
