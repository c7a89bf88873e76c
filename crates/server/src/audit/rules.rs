//! What is recorded.

use std::collections::BTreeSet;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Logins,
    /// Roles, memberships and permissions.
    Roles,
    Schema,
    Reads,
    Writes,
}

impl Category {
    pub const ALL: [(Category, &'static str); 5] = [
        (Category::Logins, "logins"),
        (Category::Roles, "roles"),
        (Category::Schema, "schema"),
        (Category::Reads, "reads"),
        (Category::Writes, "writes"),
    ];

    pub fn named(name: &str) -> Option<Category> {
        Category::ALL.iter().find(|(_, known)| *known == name).map(|(category, _)| *category)
    }

    /// As entries say it.
    pub fn event(self) -> &'static str {
        match self {
            Category::Logins => "login",
            Category::Roles => "role",
            Category::Schema => "schema",
            Category::Reads => "read",
            Category::Writes => "write",
        }
    }

    /// Of a text that could not be bound, by its first words.
    pub fn of_text(text: &str) -> Option<Category> {
        let mut words = text.split_whitespace().map(str::to_ascii_uppercase);
        let (verb, object) = (words.next()?, words.next().unwrap_or_default());
        let about_roles = ["ROLE", "USER", "IDENTITY"].contains(&object.as_str());
        match verb.as_str() {
            "GRANT" | "REVOKE" => Some(Category::Roles),
            "CREATE" | "ALTER" | "DROP" | "ADD" if about_roles => Some(Category::Roles),
            "CREATE" | "ALTER" | "DROP" | "TRUNCATE" => Some(Category::Schema),
            "SELECT" => Some(Category::Reads),
            "INSERT" | "UPDATE" | "DELETE" | "BEGIN" => Some(Category::Writes),
            _ => None,
        }
    }
}

/// See the module; the default records nothing.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub categories: BTreeSet<Category>,
    /// Reads and writes of these only, `keyspace` or `keyspace.table`; empty: of all.
    pub tables: BTreeSet<String>,
    /// Reads and writes by these only; empty: by all.
    pub roles: BTreeSet<String>,
}

impl Rules {
    /// What is recorded unless somebody says otherwise.
    pub fn usual() -> Rules {
        let categories = [Category::Logins, Category::Roles, Category::Schema].into();
        Rules { categories, ..Rules::default() }
    }

    /// Whether statements of this kind on these tables (keyspace, name) are recorded, whoever sends them.
    pub fn records<'a>(
        &self,
        category: Category,
        mut tables: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        if !self.categories.contains(&category) {
            return false;
        }
        let of_data = matches!(category, Category::Reads | Category::Writes);
        !of_data
            || self.tables.is_empty()
            || tables.any(|(keyspace, table)| {
                self.tables.contains(keyspace) || self.tables.contains(&format!("{keyspace}.{table}"))
            })
    }

    /// Whether what this role does is recorded, if it is recorded at all.
    pub fn concerns(&self, category: Category, role: Option<&str>) -> bool {
        let of_data = matches!(category, Category::Reads | Category::Writes);
        !of_data || self.roles.is_empty() || role.is_some_and(|role| self.roles.contains(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_recorded_by_table_and_role_and_the_rest_always() {
        let rules = Rules {
            categories: [Category::Reads, Category::Schema].into(),
            tables: ["hr".to_string(), "shop.orders".to_string()].into(),
            roles: ["bob".to_string()].into(),
        };
        let records =
            |category, table: (&'static str, &'static str)| rules.records(category, std::iter::once(table));
        assert!(records(Category::Reads, ("hr", "salaries")));
        assert!(records(Category::Reads, ("shop", "orders")));
        assert!(!records(Category::Reads, ("shop", "items")));
        assert!(!records(Category::Writes, ("hr", "salaries")));
        assert!(records(Category::Schema, ("shop", "items")));
        assert!(rules.concerns(Category::Reads, Some("bob")) && !rules.concerns(Category::Reads, None));
        assert!(rules.concerns(Category::Schema, Some("eve")));
        assert!(!Rules::default().records(Category::Logins, std::iter::empty()));
    }

    #[test]
    fn texts_that_cannot_be_bound_have_a_category() {
        for (text, category) in [
            ("create  role r WITH x", Some(Category::Roles)),
            ("GRANT ALL ON x TO y", Some(Category::Roles)),
            ("DROP TABLE nowhere.t", Some(Category::Schema)),
            ("Select * from nowhere", Some(Category::Reads)),
            ("nonsense", None),
            ("", None),
        ] {
            assert_eq!(Category::of_text(text), category, "{text}");
        }
    }
}
