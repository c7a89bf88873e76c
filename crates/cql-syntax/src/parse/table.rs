//! Tables and user-defined types. The leading words have been read by the caller.

use super::expr::Names;
use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{
    AlterTable, AlterType, ClusteringItem, ColumnDef, ColumnMask, CreateTable, CreateType, FieldDef, Ident,
    PrimaryKey, Property, QualifiedName, Rename, Statement, TableChange, TableOption, TypeChange,
};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn create_table_or_copy(&mut self) -> Parse<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        Ok(match self.eat_word(Keyword::Like) {
            true => Statement::CopyTable(Box::new(self.copy_table(if_not_exists, name)?)),
            false => Statement::CreateTable(Box::new(self.create_table(if_not_exists, name)?)),
        })
    }

    fn create_table(&mut self, if_not_exists: bool, name: QualifiedName) -> Parse<CreateTable> {
        self.expect(TokenKind::LeftParen, "before the columns of the table")?;
        let mut columns = Vec::new();
        let mut primary_keys = Vec::new();
        self.table_element(&mut columns, &mut primary_keys)?;
        while self.eat(TokenKind::Comma) {
            // Empty slots are legal: `a int,, b int,`.
            if !self.is(TokenKind::Comma) && !self.is(TokenKind::RightParen) {
                self.table_element(&mut columns, &mut primary_keys)?;
            }
        }
        self.expect(TokenKind::RightParen, "or ',' after a column definition")?;
        let options = self.table_options()?;
        Ok(CreateTable { if_not_exists, name, columns, primary_keys, options })
    }

    fn table_element(&mut self, columns: &mut Vec<ColumnDef>, keys: &mut Vec<PrimaryKey>) -> Parse<()> {
        if self.is_word(Keyword::Primary) {
            keys.push(self.primary_key()?);
            return Ok(());
        }
        let mut column = self.column_def()?;
        if column.checks.is_empty() {
            column.checks = self.new_column_checks()?;
        }
        let start = self.start();
        if self.eat_word(Keyword::Primary) {
            self.expect_word(Keyword::Key, "after PRIMARY")?;
            let partition = vec![column.name.clone()];
            keys.push(PrimaryKey { partition, clustering: Vec::new(), span: self.since(start) });
        }
        columns.push(column);
        Ok(())
    }

    /// `name type [STATIC] [TTL] [MASKED WITH ...] [CHECK ...]`
    fn column_def(&mut self) -> Parse<ColumnDef> {
        let start = self.start();
        let name = self.new_name("a column name")?;
        let data_type = self.data_type()?;
        let is_static = self.eat_word(Keyword::Static);
        let is_ttl = self.eat_word(Keyword::Ttl);
        let mask = if self.is_word(Keyword::Masked) { Some(self.column_mask()?) } else { None };
        // NOT NULL comes with the table alone: rows that are there have no value for a new column.
        let checks = self.column_checks()?;
        Ok(ColumnDef { name, data_type, is_static, is_ttl, mask, checks, span: self.since(start) })
    }

    fn column_mask(&mut self) -> Parse<ColumnMask> {
        let start = self.start();
        self.bump();
        self.expect_word(Keyword::With, "after MASKED")?;
        if self.is_word(Keyword::Default) && !self.is_at(1, TokenKind::LeftParen) {
            let name = Ident { name: "mask_default".into(), span: self.bump().span() };
            let function = QualifiedName { keyspace: None, name };
            return Ok(ColumnMask { function, args: Vec::new(), span: self.since(start) });
        }
        let function = self.function_name()?;
        let args = self.arguments(Names::None)?;
        Ok(ColumnMask { function, args, span: self.since(start) })
    }

    /// `PRIMARY KEY (a, b)` or `PRIMARY KEY ((a, b), c)`
    pub fn primary_key(&mut self) -> Parse<PrimaryKey> {
        let start = self.start();
        self.expect_word(Keyword::Primary, "to begin the primary key")?;
        self.expect_word(Keyword::Key, "after PRIMARY")?;
        self.expect(TokenKind::LeftParen, "before the columns of the primary key")?;
        let partition = if self.eat(TokenKind::LeftParen) {
            let columns = self.comma_list(|parser| parser.name("a column of the partition key"))?;
            self.expect(TokenKind::RightParen, "after the partition key")?;
            columns
        } else {
            vec![self.name("a column of the partition key")?]
        };
        let mut clustering = Vec::new();
        while self.eat(TokenKind::Comma) {
            clustering.push(self.name("a clustering column")?);
        }
        self.expect(TokenKind::RightParen, "after the primary key")?;
        Ok(PrimaryKey { partition, clustering, span: self.since(start) })
    }

    /// `[WITH option AND ...]` of a table or view
    pub fn table_options(&mut self) -> Parse<Vec<TableOption>> {
        if !self.eat_word(Keyword::With) {
            return Ok(Vec::new());
        }
        let mut options = vec![self.table_option()?];
        while self.eat_word(Keyword::And) {
            options.push(self.table_option()?);
        }
        let properties = options.iter().filter_map(|option| match option {
            TableOption::Property(property) => Some(property),
            _ => None,
        });
        self.check_properties(properties)?;
        Ok(options)
    }

    fn table_option(&mut self) -> Parse<TableOption> {
        let start = self.start();
        if self.eat_words(&[Keyword::Compact, Keyword::Storage]) {
            return Ok(TableOption::CompactStorage(self.since(start)));
        }
        if !self.eat_words(&[Keyword::Clustering, Keyword::Order]) {
            return Ok(TableOption::Property(self.property(Words::Keywords)?));
        }
        self.expect_word(Keyword::By, "after CLUSTERING ORDER")?;
        self.expect(TokenKind::LeftParen, "before the clustering order")?;
        let items = self.comma_list(Self::clustering_item)?;
        self.expect(TokenKind::RightParen, "after the clustering order")?;
        Ok(TableOption::ClusteringOrder(items, self.since(start)))
    }

    fn clustering_item(&mut self) -> Parse<ClusteringItem> {
        let start = self.start();
        let column = self.name("a clustering column")?;
        match self.sort_order() {
            Some(order) => Ok(ClusteringItem { column, order, span: self.since(start) }),
            None => Err(self.no_viable("expected ASC or DESC after the clustering column")),
        }
    }

    pub fn alter_table(&mut self) -> Parse<AlterTable> {
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        let change = match self.kind() {
            TokenKind::Keyword(Keyword::Alter) => self.alter_column()?,
            TokenKind::Keyword(Keyword::Add) => self.add_columns()?,
            TokenKind::Keyword(Keyword::Drop) => self.drop_columns()?,
            TokenKind::Keyword(Keyword::Rename) => {
                self.bump();
                let if_exists = self.if_exists()?;
                TableChange::Rename { if_exists, renames: self.renames()? }
            }
            TokenKind::Keyword(Keyword::With) => TableChange::With(self.with_properties()?),
            TokenKind::Keyword(Keyword::Ttl) => {
                self.bump();
                TableChange::RowTtl(match self.eat_word(Keyword::Null) {
                    true => None,
                    false => Some(self.name("the column that says when a row expires")?),
                })
            }
            TokenKind::Keyword(Keyword::Replace) => {
                self.bump();
                self.expect_word(Keyword::Projection, "after REPLACE")?;
                let old = self.name("the projection that is replaced")?;
                self.expect_word(Keyword::With, "after the projection that is replaced")?;
                TableChange::Replace { old, new: self.name("the projection that takes its place")? }
            }
            _ => return Err(self.no_viable("expected ADD, DROP, ALTER, RENAME or WITH after the table")),
        };
        Ok(AlterTable { if_exists, name, change })
    }

    /// `WITH property AND ...`
    pub fn with_properties(&mut self) -> Parse<Vec<Property>> {
        self.expect_word(Keyword::With, "before the properties")?;
        self.properties(Words::Keywords)
    }

    fn alter_column(&mut self) -> Parse<TableChange> {
        self.bump();
        let if_exists = self.if_exists()?;
        let column = self.name("a column")?;
        if !if_exists && self.eat_word(Keyword::Type) {
            return Ok(TableChange::ColumnType { column, data_type: self.data_type()? });
        }
        if self.is_word(Keyword::Masked) {
            let mask = Some(self.column_mask()?);
            return Ok(TableChange::Mask { if_exists, column, mask });
        }
        if self.eat_words(&[Keyword::Drop, Keyword::Masked]) {
            return Ok(TableChange::Mask { if_exists, column, mask: None });
        }
        if self.is_word(Keyword::Check) {
            return Ok(TableChange::Check { if_exists, column, checks: self.column_checks()? });
        }
        if self.eat_words(&[Keyword::Drop, Keyword::Check]) {
            return Ok(TableChange::Check { if_exists, column, checks: Vec::new() });
        }
        Err(self.no_viable("expected TYPE, MASKED WITH, CHECK, DROP MASKED or DROP CHECK after the column"))
    }

    fn add_columns(&mut self) -> Parse<TableChange> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let columns = if self.eat(TokenKind::LeftParen) {
            let columns = self.comma_list(Self::column_def)?;
            self.expect(TokenKind::RightParen, "after the columns")?;
            columns
        } else {
            vec![self.column_def()?]
        };
        Ok(TableChange::Add { if_not_exists, columns })
    }

    fn drop_columns(&mut self) -> Parse<TableChange> {
        self.bump();
        if self.eat_words(&[Keyword::Compact, Keyword::Storage]) {
            return Ok(TableChange::DropCompactStorage);
        }
        let if_exists = self.if_exists()?;
        let columns = if self.eat(TokenKind::LeftParen) {
            let columns = self.comma_list(|parser| parser.name("a column"))?;
            self.expect(TokenKind::RightParen, "after the columns")?;
            columns
        } else {
            vec![self.name("a column")?]
        };
        let timestamp = if self.eat_word(Keyword::Using) {
            self.expect_word(Keyword::Timestamp, "after USING")?;
            Some(self.timestamp_literal()?)
        } else {
            None
        };
        Ok(TableChange::Drop { if_exists, columns, timestamp })
    }

    fn timestamp_literal(&mut self) -> Parse<i64> {
        let token = self.token();
        if token.kind != TokenKind::Integer {
            return Err(self.mismatched(TokenKind::Integer, "after USING TIMESTAMP"));
        }
        let Ok(value) = self.text_of(token).parse() else {
            return Err(self.no_viable("a timestamp has 64 bits"));
        };
        self.bump();
        Ok(value)
    }

    /// `a TO b AND ...`
    fn renames(&mut self) -> Parse<Vec<Rename>> {
        let mut renames = Vec::new();
        loop {
            let from = self.name("the old name")?;
            self.expect_word(Keyword::To, "before the new name")?;
            renames.push(Rename { from, to: self.new_name("the new name")? });
            if !self.eat_word(Keyword::And) {
                return Ok(renames);
            }
        }
    }

    pub fn create_type(&mut self) -> Parse<CreateType> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.type_name("the name of a user-defined type")?;
        self.expect(TokenKind::LeftParen, "before the fields of the type")?;
        let mut fields = vec![self.field_def()?];
        while self.eat(TokenKind::Comma) {
            if !self.is(TokenKind::Comma) && !self.is(TokenKind::RightParen) {
                fields.push(self.field_def()?);
            }
        }
        self.expect(TokenKind::RightParen, "or ',' after a field")?;
        Ok(CreateType { if_not_exists, name, fields })
    }

    fn field_def(&mut self) -> Parse<FieldDef> {
        let start = self.start();
        let name = self.new_name("the name of a field")?;
        let data_type = self.data_type()?;
        Ok(FieldDef { name, data_type, span: self.since(start) })
    }

    pub fn alter_type(&mut self) -> Parse<AlterType> {
        let if_exists = self.if_exists()?;
        let name = self.type_name("the name of a user-defined type")?;
        let change = if self.eat_word(Keyword::Alter) {
            let field = self.name("the name of a field")?;
            self.expect_word(Keyword::Type, "after the field")?;
            TypeChange::FieldType { field, data_type: self.data_type()? }
        } else if self.eat_word(Keyword::Add) {
            let if_not_exists = self.if_not_exists()?;
            TypeChange::Add { if_not_exists, field: self.field_def()? }
        } else if self.eat_word(Keyword::Rename) {
            let if_exists = self.if_exists()?;
            TypeChange::Rename { if_exists, renames: self.renames()? }
        } else {
            return Err(self.no_viable("expected ADD, RENAME or ALTER after the type"));
        };
        Ok(AlterType { if_exists, name, change })
    }
}
