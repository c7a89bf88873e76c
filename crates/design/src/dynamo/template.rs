//! Values with holes: `TENANT#<tenant>#ORDER#<order>` is a grammar of keys.
//!
//! `<name>`, `{name}`, `${name}` and `:name` are holes; anything else is constant.

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Fixed(String),
    /// What varies, by its name; empty when nothing names it.
    Hole(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub pieces: Vec<Piece>,
    pub text: String,
    /// A JSON number, not a text.
    pub is_number: bool,
}

impl Template {
    pub fn hole(name: &str) -> Template {
        Template { pieces: vec![Piece::Hole(name.into())], text: format!("<{name}>"), is_number: false }
    }

    pub fn read(text: &str) -> Template {
        let trimmed = text.trim();
        if let Some(name) =
            trimmed.strip_prefix(':').filter(|n| n.chars().all(|c| c.is_alphanumeric() || c == '_'))
        {
            return Template::hole(name);
        }
        if trimmed == "?" || trimmed == "%s" || trimmed == "%d" {
            return Template::hole("");
        }
        let mut pieces = Vec::new();
        let mut fixed = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let found = ["${", "<", "{"].iter().find_map(|open| {
                let close = if *open == "<" { '>' } else { '}' };
                let inside = rest.strip_prefix(open)?;
                let end = inside.find(close)?;
                let name = &inside[..end];
                (!name.is_empty() && !name.contains(['<', '{', '\n'])).then(|| (name, open.len() + end + 1))
            });
            if let Some((name, length)) = found {
                if !fixed.is_empty() {
                    pieces.push(Piece::Fixed(std::mem::take(&mut fixed)));
                }
                pieces.push(Piece::Hole(name.trim().to_string()));
                rest = &rest[length..];
            } else {
                fixed.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        if !fixed.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Fixed(fixed));
        }
        Template { pieces, text: text.to_string(), is_number: false }
    }

    /// Without holes: always the same.
    pub fn is_constant(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Fixed(_)))
    }

    pub fn holes(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole(name) => Some(name.as_str()),
            Piece::Fixed(_) => None,
        })
    }

    /// The constant letters before the first hole.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Fixed(text)) => text,
            _ => "",
        }
    }

    /// Whether it is one hole and nothing else.
    pub fn is_bare(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::Hole(_)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_known_in_every_notation() {
        for text in ["T#<t>#O#<o>", "T#{t}#O#{o}", "T#${t}#O#${o}"] {
            let template = Template::read(text);
            assert_eq!(template.holes().collect::<Vec<_>>(), ["t", "o"], "{text}");
            assert_eq!(template.prefix(), "T#", "{text}");
        }
        assert!(Template::read("CONFIG").is_constant());
        assert!(Template::read("a < b").is_constant());
        assert!(Template::read(":p").is_bare());
    }
}
