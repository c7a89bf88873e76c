//! What a row of the source says of its values and their times, and the statements that say the same.

use super::super::table::{Column, Kind, Table, quoted_name};
use model::types::DataType;
use model::value::elements::{elements, map_parts};
use std::collections::BTreeMap;

/// Time and expiry of a value: microseconds, seconds that are left (0: for ever).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub micros: i64,
    pub ttl: i32,
}

/// How the times of a column are told and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    /// One for the value.
    Value,
    /// One for each element of a set or map.
    Element,
    /// One for each field of a user-defined type.
    Field,
    /// One for each element, of which the newest stands for all: a list, whose elements cannot be named.
    Newest,
    /// The source cannot tell.
    Unknown,
}

/// A column that is copied, and where it is in a row of the answer.
#[derive(Debug)]
struct Copied {
    column: Column,
    times: Times,
    at: usize,
    /// The first of its values among those that an UPDATE binds.
    slot: usize,
}

impl Copied {
    fn slots(&self) -> usize {
        if self.times == Times::Field { self.column.fields.len() } else { 1 }
    }
}

/// How a column of the answer is held against that of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    Bytes,
    /// Only whether there is one: it is read on each side at another moment.
    Ttl,
    /// Only the newest of a list.
    Newest,
    /// Not at all: who mends a list gives it a time of its own.
    Nothing,
}

/// The columns of one kind of row: regular rows, or static ones.
#[derive(Debug)]
pub struct Layout {
    key: Vec<String>,
    copied: Vec<Copied>,
    path: String,
    token: String,
    is_static: bool,
    /// What is added to the times of lists: writing a list twice with the same time would double it.
    pub list_shift: i64,
}

/// Values of one time, by the place at which an UPDATE binds them.
pub type Group = BTreeMap<usize, Vec<u8>>;

/// A value of a row: its place, its element, its bytes, its time, whether it is a list.
pub type Told = (usize, Option<Vec<u8>>, Vec<u8>, Option<Stamp>, bool);

/// A row in the form in which it is written.
pub struct Written {
    pub key: Vec<Vec<u8>>,
    pub groups: BTreeMap<Stamp, Group>,
}

impl Layout {
    /// `elements`: the source tells times of elements. `None`: nothing of this kind is to be copied.
    pub fn new(table: &Table, is_static: bool, elements: bool) -> Option<Layout> {
        let kind = if is_static { Kind::Static } else { Kind::Regular };
        let key = table.columns.iter().filter(|c| c.kind == Kind::Partition || (!is_static && c.is_key()));
        let key: Vec<String> = key.map(|column| quoted_name(&column.name)).collect();
        let (mut at, mut slot) = (key.len(), 0);
        let mut copied = Vec::new();
        for column in table.of_kind(kind) {
            let times = match column.is_multi_cell() {
                false => Times::Value,
                true if !elements => Times::Unknown,
                true if column.is_list() => Times::Newest,
                true if !column.fields.is_empty() => Times::Field,
                true => Times::Element,
            };
            let next = Copied { column: column.clone(), times, at, slot };
            at += if times == Times::Unknown { 1 } else { 3 };
            slot += next.slots();
            copied.push(next);
        }
        if is_static && copied.is_empty() {
            return None;
        }
        Some(Layout { key, copied, path: table.path(), token: table.token(), is_static, list_shift: 0 })
    }

    /// Reads rows with the times of their values.
    pub fn select(&self) -> String {
        self.select_where(&format!("{0} > ? AND {0} <= ?", self.token))
    }

    /// Reads rows of one partition, or one row, by the first columns of the key.
    pub fn select_key(&self, columns: usize) -> String {
        self.select_where(&self.key_is(columns))
    }

    /// `k = ? AND c = ?`
    pub fn key_is(&self, columns: usize) -> String {
        let parts: Vec<String> = self.key.iter().take(columns).map(|name| format!("{name} = ?")).collect();
        parts.join(" AND ")
    }

    fn select_where(&self, condition: &str) -> String {
        let mut selected = self.key.clone();
        for Copied { column, times, .. } in &self.copied {
            let name = quoted_name(&column.name);
            selected.push(name.clone());
            if *times != Times::Unknown {
                selected.push(format!("WRITETIME({name})"));
                selected.push(format!("TTL({name})"));
            }
        }
        let (distinct, path) = (if self.is_static { "DISTINCT " } else { "" }, &self.path);
        format!("SELECT {distinct}{} FROM {path} WHERE {condition}", selected.join(", "))
    }

    /// Writes a row whose values are all of one time, its marker included.
    pub fn insert(&self) -> String {
        let names = self.key.iter().cloned().chain(self.copied.iter().map(|c| quoted_name(&c.column.name)));
        let names: Vec<String> = names.collect();
        let markers = vec!["?"; names.len()].join(", ");
        format!(
            "INSERT INTO {} ({}) VALUES ({markers}) USING TIMESTAMP ? AND TTL ?",
            self.path,
            names.join(", ")
        )
    }

    /// Writes the marker of a row.
    pub fn mark(&self) -> String {
        let markers = vec!["?"; self.key.len()].join(", ");
        format!(
            "INSERT INTO {} ({}) VALUES ({markers}) USING TIMESTAMP ? AND TTL ?",
            self.path,
            self.key.join(", ")
        )
    }

    /// Writes values of one time; those that are not bound stay as they are.
    pub fn update(&self) -> Option<String> {
        let mut sets = Vec::new();
        for copied in &self.copied {
            let name = quoted_name(&copied.column.name);
            match copied.times {
                Times::Element => sets.push(format!("{name} = {name} + ?")),
                Times::Field => {
                    let fields = copied.column.fields.iter();
                    sets.extend(fields.map(|field| format!("{name}.{} = ?", quoted_name(field))));
                }
                _ => sets.push(format!("{name} = ?")),
            }
        }
        let key: Vec<String> = self.key.iter().map(|name| format!("{name} = ?")).collect();
        let text = || {
            format!(
                "UPDATE {} USING TIMESTAMP ? AND TTL ? SET {} WHERE {}",
                self.path,
                sets.join(", "),
                key.join(" AND ")
            )
        };
        (!sets.is_empty()).then(text)
    }

    /// Values that an UPDATE binds.
    pub fn slots(&self) -> usize {
        self.copied.iter().map(Copied::slots).sum()
    }

    /// The same of an INSERT, which binds one for each column: their places among those of an UPDATE.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.copied.iter().map(|copied| copied.slot)
    }

    /// For each column of the answer.
    pub fn compared(&self) -> Vec<Compared> {
        let mut compared = vec![Compared::Bytes; self.key.len()];
        for copied in &self.copied {
            compared.push(Compared::Bytes);
            match copied.times {
                Times::Unknown => {}
                Times::Newest => compared.extend([Compared::Newest, Compared::Ttl]),
                _ => compared.extend([Compared::Bytes, Compared::Ttl]),
            }
        }
        compared
    }

    fn at_slot(&self, slot: usize) -> Option<&Copied> {
        self.copied.iter().find(|copied| (copied.slot..copied.slot + copied.slots()).contains(&slot))
    }

    /// The same where lists were mended: they are compared by their values.
    pub fn compared_live(&self) -> Vec<Compared> {
        let less =
            |compared: Compared| if compared == Compared::Newest { Compared::Nothing } else { compared };
        self.compared().into_iter().map(less).collect()
    }

    /// Key columns that the layout's rows have.
    pub fn key_columns(&self) -> usize {
        self.key.len()
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn is_static(&self) -> bool {
        self.is_static
    }

    /// Whether sending such a group twice could double something.
    pub fn is_repeatable(&self, group: &Group) -> bool {
        !group.keys().any(|slot| self.at_slot(*slot).is_some_and(|copied| copied.column.is_list()))
    }

    /// Whether values of a group can be written by INSERT without leaving more than the values.
    pub fn is_plain(&self, group: &Group) -> bool {
        group.keys().all(|slot| self.at_slot(*slot).is_some_and(|copied| copied.times == Times::Value))
    }

    /// The values of a row one by one: where an UPDATE binds each, the element it is of a set or map (none for others), its bytes (of a
    /// map's entry those of the value), its time if the side can tell it, and whether it is a list.
    pub fn values(&self, cells: &[Option<&[u8]>], types: &[DataType]) -> Result<Vec<Told>, String> {
        let mut found = Vec::new();
        for copied in &self.copied {
            let Some(value) = cells.get(copied.at).copied().flatten() else { continue };
            let at = |place: usize| cells.get(copied.at + place).copied().flatten();
            let is_list = copied.column.is_list();
            match copied.times {
                Times::Unknown => found.push((copied.slot, None, value.to_vec(), None, is_list)),
                Times::Value => {
                    let stamp = Stamp { micros: long(at(1))?, ttl: at(2).map_or(Ok(0), int)? };
                    found.push((copied.slot, None, value.to_vec(), Some(stamp), is_list));
                }
                Times::Newest => {
                    let newest = stamps(at(1), at(2))?.into_iter().flatten().max();
                    found.push((copied.slot, None, value.to_vec(), newest, is_list));
                }
                Times::Element => {
                    let is_map = matches!(types.get(copied.at), Some(DataType::Map { .. }));
                    let malformed = |_| "a collection that cannot be read".to_string();
                    let parts = if is_map { map_parts(value) } else { elements(value) };
                    let parts: Vec<Option<&[u8]>> =
                        parts.map_err(malformed)?.collect::<Result<_, _>>().map_err(malformed)?;
                    let parts: Vec<Vec<u8>> =
                        parts.iter().map(|part| part.unwrap_or_default().to_vec()).collect();
                    let stamps = stamps(at(1), at(2))?;
                    let width = if is_map { 2 } else { 1 };
                    if parts.len() != stamps.len() * width {
                        return Err(format!(
                            "a collection of {} parts with {} times",
                            parts.len(),
                            stamps.len()
                        ));
                    }
                    for (entry, stamp) in parts.chunks(width).zip(stamps) {
                        let value = if is_map { entry[1].clone() } else { Vec::new() };
                        found.push((copied.slot, Some(entry[0].clone()), value, stamp, false));
                    }
                }
                Times::Field => {
                    let all = stamps(at(1), at(2))?.into_iter().zip(fields(value)).enumerate();
                    for (place, (stamp, field)) in all {
                        if let (Some(stamp), Some(field)) = (stamp, field) {
                            found.push((copied.slot + place, None, field.to_vec(), Some(stamp), false));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether what an UPDATE binds here is a set (`Some(1)`) or map (`Some(2)`) to which elements are added: the parts of an element.
    pub fn element_parts(&self, slot: usize) -> Option<usize> {
        let copied = self.at_slot(slot).filter(|copied| copied.times == Times::Element)?;
        Some(if copied.column.type_text.starts_with("map<") { 2 } else { 1 })
    }

    /// The statement that deletes what an UPDATE binds at this place, as of a time: `time, [element,] key` are bound.
    pub fn delete_value(&self, slot: usize) -> Option<(String, bool)> {
        let copied = self.at_slot(slot)?;
        let (name, path, key) = (quoted_name(&copied.column.name), &self.path, self.key_is(self.key.len()));
        Some(match copied.times {
            Times::Element => (format!("DELETE {name}[?] FROM {path} USING TIMESTAMP ? WHERE {key}"), true),
            Times::Field => {
                let field = copied.column.fields.get(slot - copied.slot)?;
                let field = quoted_name(field);
                (format!("DELETE {name}.{field} FROM {path} USING TIMESTAMP ? WHERE {key}"), false)
            }
            _ => (format!("DELETE {name} FROM {path} USING TIMESTAMP ? WHERE {key}"), false),
        })
    }

    /// Groups the values of a row by their times. `types` are those of the answer's columns.
    pub fn row(
        &self,
        cells: &[Option<&[u8]>],
        types: &[DataType],
        now_micros: i64,
    ) -> Result<Written, String> {
        let key = cells.iter().take(self.key.len()).map(|cell| cell.unwrap_or_default().to_vec()).collect();
        let mut groups: BTreeMap<Stamp, Group> = BTreeMap::new();
        let mut undated: Vec<(usize, &[u8])> = Vec::new();
        for copied in &self.copied {
            let number = copied.slot;
            let Some(value) = cells.get(copied.at).copied().flatten() else { continue };
            let (micros, ttl) = match copied.times {
                Times::Unknown => {
                    undated.push((number, value));
                    continue;
                }
                _ => {
                    (cells.get(copied.at + 1).copied().flatten(), cells.get(copied.at + 2).copied().flatten())
                }
            };
            match copied.times {
                Times::Value => {
                    let stamp = Stamp { micros: long(micros)?, ttl: ttl.map_or(Ok(0), int)? };
                    groups.entry(stamp).or_default().insert(number, value.to_vec());
                }
                Times::Newest => {
                    let newest = stamps(micros, ttl)?.into_iter().flatten().max();
                    let stamp = newest.unwrap_or(Stamp { micros: now_micros, ttl: 0 });
                    let stamp = Stamp { micros: stamp.micros + self.list_shift, ..stamp };
                    groups.entry(stamp).or_default().insert(number, value.to_vec());
                }
                Times::Element => {
                    let kind = types.get(copied.at).ok_or("a column without a type")?;
                    for (stamp, part) in by_stamp(kind, value, &stamps(micros, ttl)?)? {
                        groups.entry(stamp).or_default().insert(number, part);
                    }
                }
                Times::Field => {
                    for (place, (stamp, field)) in
                        stamps(micros, ttl)?.into_iter().zip(fields(value)).enumerate()
                    {
                        // A field that is null has no time.
                        if let (Some(stamp), Some(field)) = (stamp, field) {
                            groups.entry(stamp).or_default().insert(number + place, field.to_vec());
                        }
                    }
                }
                Times::Unknown => {}
            }
        }
        if !undated.is_empty() {
            let newest = groups.keys().max().copied().unwrap_or(Stamp { micros: now_micros, ttl: 0 });
            let newest = Stamp { micros: newest.micros + self.list_shift, ..newest };
            let group = groups.entry(newest).or_default();
            group.extend(undated.into_iter().map(|(number, value)| (number, value.to_vec())));
        }
        Ok(Written { key, groups })
    }
}

impl Written {
    /// The marker that the values let us infer: as old as the oldest, and lasting as long as the longest.
    pub fn marker(&self, now_micros: i64) -> Stamp {
        let oldest = self.groups.keys().map(|stamp| stamp.micros).min();
        let expires = !self.groups.is_empty() && self.groups.keys().all(|stamp| stamp.ttl > 0);
        let longest = self.groups.keys().map(|stamp| stamp.ttl).max().unwrap_or(0);
        Stamp { micros: oldest.unwrap_or(now_micros), ttl: if expires { longest } else { 0 } }
    }
}

/// The values of a user-defined type; those behind the last that is there are null.
fn fields(mut value: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    std::iter::from_fn(move || {
        let (len, rest) = value.split_first_chunk::<4>()?;
        let len = i32::from_be_bytes(*len);
        let (field, rest) = rest.split_at_checked(usize::try_from(len).unwrap_or(0))?;
        value = rest;
        Some((len >= 0).then_some(field))
    })
}

/// The newest of a list of times.
pub fn newest(times: Option<&[u8]>) -> Option<i64> {
    stamps(times, None).ok()?.into_iter().flatten().map(|stamp| stamp.micros).max()
}

fn long(cell: Option<&[u8]>) -> Result<i64, String> {
    let bytes = cell.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).ok_or("a value without a time")?;
    Ok(i64::from_be_bytes(bytes))
}

fn int(bytes: &[u8]) -> Result<i32, String> {
    <[u8; 4]>::try_from(bytes).map(i32::from_be_bytes).map_err(|_| "a TTL that is no number".to_string())
}

/// The lists that WRITETIME and TTL of a column with many cells give, element by element.
fn stamps(micros: Option<&[u8]>, ttl: Option<&[u8]>) -> Result<Vec<Option<Stamp>>, String> {
    let malformed = |_| "times of elements that are no list".to_string();
    let Some(micros) = micros else { return Ok(Vec::new()) };
    let micros: Vec<Option<&[u8]>> =
        elements(micros).map_err(malformed)?.collect::<Result<_, _>>().map_err(malformed)?;
    let ttls: Vec<Option<&[u8]>> = match ttl {
        Some(ttl) => elements(ttl).map_err(malformed)?.collect::<Result<_, _>>().map_err(malformed)?,
        None => Vec::new(),
    };
    let stamp = |(at, micros): (usize, Option<&[u8]>)| match micros {
        None => Ok(None),
        some => {
            let ttl = ttls.get(at).copied().flatten().map_or(Ok(0), int)?;
            Ok(Some(Stamp { micros: long(some)?, ttl }))
        }
    };
    micros.into_iter().enumerate().map(stamp).collect()
}

/// The elements of a set or map by their times, each part as a value of the same type.
fn by_stamp(
    data_type: &DataType,
    value: &[u8],
    stamps: &[Option<Stamp>],
) -> Result<BTreeMap<Stamp, Vec<u8>>, String> {
    let malformed = |_| "a collection that cannot be read".to_string();
    let width = if matches!(data_type, DataType::Map { .. }) { 2 } else { 1 };
    let (count, mut rest) = value.split_first_chunk::<4>().ok_or_else(|| malformed(()))?;
    let count = i32::from_be_bytes(*count).max(0) as usize;
    if count != stamps.len() {
        return Err(format!("a collection of {count} elements with {} times", stamps.len()));
    }
    let mut parts: BTreeMap<Stamp, (i32, Vec<u8>)> = BTreeMap::new();
    for stamp in stamps {
        let stamp = stamp.ok_or("an element without a time")?;
        let (held, bytes) = parts.entry(stamp).or_default();
        *held += 1;
        for _ in 0..width {
            let (len, behind) = rest.split_first_chunk::<4>().ok_or_else(|| malformed(()))?;
            let (part, behind) = behind
                .split_at_checked(i32::from_be_bytes(*len).max(0) as usize)
                .ok_or_else(|| malformed(()))?;
            bytes.extend_from_slice(len);
            bytes.extend_from_slice(part);
            rest = behind;
        }
    }
    let whole =
        |(stamp, (held, bytes)): (Stamp, (i32, Vec<u8>))| (stamp, [&held.to_be_bytes()[..], &bytes].concat());
    Ok(parts.into_iter().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: Kind, type_text: &str) -> Column {
        Column { name: name.into(), kind, type_text: type_text.into(), fields: Vec::new() }
    }

    fn table() -> Table {
        let columns = vec![
            column("k", Kind::Partition, "int"),
            column("c", Kind::Clustering, "int"),
            column("s", Kind::Static, "text"),
            column("m", Kind::Regular, "map<text, int>"),
            column("v", Kind::Regular, "text"),
        ];
        Table { keyspace: "ks".into(), name: "T".into(), columns }
    }

    fn list(items: &[Option<&[u8]>]) -> Vec<u8> {
        let mut out = (items.len() as i32).to_be_bytes().to_vec();
        for item in items {
            out.extend_from_slice(&item.map_or(-1, |i| i.len() as i32).to_be_bytes());
            out.extend_from_slice(item.unwrap_or_default());
        }
        out
    }

    #[test]
    fn statements_name_every_column() {
        let layout = Layout::new(&table(), false, true).unwrap();
        assert_eq!(
            layout.select(),
            r#"SELECT "k", "c", "m", WRITETIME("m"), TTL("m"), "v", WRITETIME("v"), TTL("v") FROM "ks"."T" WHERE token("k") > ? AND token("k") <= ?"#
        );
        assert_eq!(
            layout.update().unwrap(),
            r#"UPDATE "ks"."T" USING TIMESTAMP ? AND TTL ? SET "m" = "m" + ?, "v" = ? WHERE "k" = ? AND "c" = ?"#
        );
        assert_eq!(
            layout.mark(),
            r#"INSERT INTO "ks"."T" ("k", "c") VALUES (?, ?) USING TIMESTAMP ? AND TTL ?"#
        );
        let statics = Layout::new(&table(), true, true).unwrap();
        assert!(statics.select().starts_with(r#"SELECT DISTINCT "k", "s", WRITETIME("s"), TTL("s") FROM"#));
    }

    #[test]
    fn fields_of_a_type_have_times_of_their_own() {
        let mut table = table();
        let fields = vec!["street".to_string(), "zip".to_string(), "city".to_string()];
        table.columns.push(Column { fields, ..column("a", Kind::Regular, "address") });
        let layout = Layout::new(&table, false, true).unwrap();
        assert!(
            layout
                .update()
                .unwrap()
                .contains(r#""v" = ?, "a"."street" = ?, "a"."zip" = ?, "a"."city" = ? WHERE"#)
        );
        assert_eq!((layout.slots(), layout.columns().collect::<Vec<_>>()), (5, vec![0, 1, 2]));
        let (key, zip) = (7i32.to_be_bytes(), 9i32.to_be_bytes());
        let [t1, t2] = [10i64, 20].map(i64::to_be_bytes);
        // The second field is null, the third is not there at all.
        let value = [&4i32.to_be_bytes()[..], b"Main", &(-1i32).to_be_bytes()].concat();
        let times = list(&[Some(&t1), None, None]);
        let mut cells = vec![Some(&key[..]), Some(&key), None, None, None, None, None, None];
        cells.extend([Some(&value[..]), Some(&times), None]);
        let row = layout.row(&cells, &vec![DataType::Int; cells.len()], 99).unwrap();
        assert_eq!(row.groups[&Stamp { micros: 10, ttl: 0 }], Group::from([(2, b"Main".to_vec())]));
        let whole = [&4i32.to_be_bytes()[..], b"Main", &4i32.to_be_bytes(), &zip].concat();
        let times = list(&[Some(&t1), Some(&t2), None]);
        (cells[8], cells[9]) = (Some(&whole[..]), Some(&times[..]));
        let row = layout.row(&cells, &vec![DataType::Int; cells.len()], 99).unwrap();
        assert_eq!(row.groups[&Stamp { micros: 20, ttl: 0 }], Group::from([(3, zip.to_vec())]));
        assert_eq!(newest(Some(&times)), Some(20));
    }

    #[test]
    fn values_are_grouped_by_their_times() {
        let layout = Layout::new(&table(), false, true).unwrap();
        let [t1, t2] = [10i64, 20].map(i64::to_be_bytes);
        let (one, two, ttl) = (1i32.to_be_bytes(), 2i32.to_be_bytes(), 60i32.to_be_bytes());
        let mut map = 2i32.to_be_bytes().to_vec();
        for (key, value) in [(b"a", one), (b"b", two)] {
            map.extend([&1i32.to_be_bytes()[..], key, &4i32.to_be_bytes(), &value].concat());
        }
        let times = list(&[Some(&t1), Some(&t2)]);
        let ttls = list(&[None, Some(&ttl)]);
        let key = 7i32.to_be_bytes();
        let cells =
            [Some(&key[..]), Some(&key), Some(&map), Some(&times), Some(&ttls), Some(b"x"), Some(&t1), None];
        let mut types = vec![DataType::Int; cells.len()];
        types[2] = DataType::map(DataType::Text, DataType::Int);
        let row = layout.row(&cells, &types, 99).unwrap();
        let (old, new) = (Stamp { micros: 10, ttl: 0 }, Stamp { micros: 20, ttl: 60 });
        assert_eq!(row.groups.keys().copied().collect::<Vec<_>>(), [old, new]);
        assert_eq!(row.groups[&old].len(), 2, "half of the map, and the text");
        assert_eq!(
            row.groups[&new][&0],
            [&1i32.to_be_bytes()[..], &1i32.to_be_bytes(), b"b", &4i32.to_be_bytes(), &two].concat()
        );
        assert_eq!(row.marker(99), Stamp { micros: 10, ttl: 0 });
        assert!(!layout.is_plain(&row.groups[&old]) && layout.is_repeatable(&row.groups[&old]));
        let bare = [Some(&key[..]), Some(&key), None, None, None, None, None, None];
        assert_eq!(layout.row(&bare, &types, 99).unwrap().marker(99), Stamp { micros: 99, ttl: 0 });
    }
}
