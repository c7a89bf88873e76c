//! Function calls, casts and arithmetic: the function is chosen by the types of its arguments.

use super::assign::{Assignable, of_types, value_compatible};
use super::operator::{numbers_like, returns_fit};
use super::{Binder, literal, term_text};
use crate::CqlError;
use crate::bind::types;
use cql_syntax::ast::{self, ExprKind, NativeType, QualifiedName};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::function::{self, Argument, Function};
use query::select::{Aggregate, AggregateKind, Source};
use std::sync::Arc;

/// What markers in a SELECT clause are called.
pub const SELECTION: &str = "[selection]";

/// What a call turned out to call.
pub enum Callee {
    Scalar(Function),
    /// The signature of an aggregate that somebody made.
    UserAggregate(Function),
    Aggregate(AggregateKind, DataType),
}

impl Callee {
    fn returns(&self) -> &DataType {
        match self {
            Callee::Scalar(function) | Callee::UserAggregate(function) => &function.returns,
            Callee::Aggregate(_, returns) => returns,
        }
    }
}

impl Binder<'_, '_> {
    /// Binds an expression whose type must come from itself: a selector, or what one is made of.
    pub fn selector(&mut self, written: &ast::Expr) -> Result<Expr, CqlError> {
        match &written.kind {
            ExprKind::Column(_)
            | ExprKind::CellInfo { .. }
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Slice { .. } => self.input(written),
            ExprKind::Function { .. }
            | ExprKind::CountRows
            | ExprKind::Binary { .. }
            | ExprKind::Negate(_)
            | ExprKind::Cast { .. } => self.call(written, None),
            ExprKind::TypeHint { to, expr } => {
                let hinted = types::resolve(self.scope, &self.keyspace(), to)?;
                if self.test(expr, &hinted) == Assignable::No {
                    let text = term_text(written);
                    return Err(CqlError::invalid(format!(
                        "Cannot assign value {text} to {text} of type {hinted}"
                    )));
                }
                self.bind(written, &hinted, SELECTION)
            }
            // What stands in parentheses alone is a tuple of one, whose type nothing tells.
            _ => match self.infer(written) {
                Some(inferred) => self.bind(written, &inferred, SELECTION),
                None => Err(CqlError::invalid(format!(
                    "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                    term_text(written)
                ))),
            },
        }
    }

    /// The type of a collection or tuple of selectors; literals alone tell no type. A map may be a user-defined type's value,
    /// so it never does.
    fn infer(&self, written: &ast::Expr) -> Option<DataType> {
        let part = |parts: &[ast::Expr]| parts.iter().find_map(|p| self.type_of(p, None)).map(|t| t.freeze());
        Some(match &written.kind {
            ExprKind::List(parts) => DataType::List { element: Arc::new(part(parts)?), frozen: true },
            ExprKind::Set(parts) => DataType::Set { element: Arc::new(part(parts)?), frozen: true },
            ExprKind::Tuple(parts) if parts.len() > 1 => {
                let parts: Option<Vec<DataType>> = parts.iter().map(|p| self.type_of(p, None)).collect();
                DataType::tuple(parts?)
            }
            _ => return None,
        })
    }

    /// Binds a call for a place of a known type.
    pub(super) fn call_for(
        &mut self,
        written: &ast::Expr,
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        let bound = self.call(written, Some(expected))?;
        if of_types(expected, &bound.data_type) == Assignable::No {
            let found = &bound.data_type;
            return Err(CqlError::invalid(match &written.kind {
                ExprKind::Binary { op, .. } => format!(
                    "Type error: cannot assign result of operation {} (type {found}) to {receiver} (type {expected})",
                    op.symbol()
                ),
                ExprKind::Negate(_) => format!(
                    "Type error: cannot assign result of negation (type {found}) to {receiver} (type {expected})"
                ),
                _ => format!(
                    "Type error: cannot assign result of function {} (type {found}) to {receiver} (type {expected})",
                    callee_name(written)
                ),
            }));
        }
        Ok(bound)
    }

    fn call(&mut self, written: &ast::Expr, expected: Option<&DataType>) -> Result<Expr, CqlError> {
        match &written.kind {
            ExprKind::CountRows => self.aggregate(AggregateKind::CountRows, &[], DataType::BigInt),
            ExprKind::Function { name, args } => match self.callee(name, args, expected)? {
                Callee::Scalar(function) => self.scalar(function, args),
                Callee::UserAggregate(function) => self.user_aggregate(function, args),
                Callee::Aggregate(kind, returns) => self.aggregate(kind, args, returns),
            },
            ExprKind::Cast { expr, to } => {
                let to = types::resolve(self.scope, &self.keyspace(), to)?;
                if self.row.is_none() {
                    let function = self.cast_of_term(expr, &to, expected)?;
                    return self.scalar(function, std::slice::from_ref(expr));
                }
                let inner = match (&expr.kind, self.natural(expr)) {
                    (ExprKind::Tuple(parts), Some(natural)) if parts.len() == 1 => {
                        self.bind(expr, &natural, SELECTION)?
                    }
                    _ => self.selector(expr)?,
                };
                let function = match function::cast_function(&inner.data_type, &to) {
                    Some(function) => function,
                    None => compatible_cast(&term_text(expr), &inner.data_type, &to)?,
                };
                Ok(call(function, vec![inner]))
            }
            ExprKind::Binary { op, left, right } => {
                let function = self.operation(*op, left, right, expected)?;
                let (names, args) = (self.arg_names(&function), function.args.clone());
                let [left_type, right_type] = args.as_slice() else { return Err(no_operands(&function)) };
                let left = self.bind(left, left_type, &names.0)?;
                let right = self.bind(right, right_type, &names.1)?;
                Ok(call(function, vec![left, right]))
            }
            ExprKind::Negate(inner) => {
                let function = self.negation(inner, expected)?;
                let name = self.arg_names(&function).0;
                let [of] = function.args.as_slice() else { return Err(no_operands(&function)) };
                let inner = self.bind(inner, of, &name)?;
                Ok(call(function, vec![inner]))
            }
            _ => Err(CqlError::invalid(format!("Unknown function {} called", term_text(written)))),
        }
    }

    fn scalar(&mut self, function: Function, args: &[ast::Expr]) -> Result<Expr, CqlError> {
        let mut bound = Vec::with_capacity(args.len());
        for (i, (arg, data_type)) in args.iter().zip(&function.args).enumerate() {
            bound.push(self.bind(arg, data_type, &self.arg_name(i, &function.name))?);
        }
        let function = Arc::new(function);
        self.uses(&function);
        Ok(Expr::new(function.returns.clone(), Node::Call(function, bound)))
    }

    /// What markers among two operands are called.
    fn arg_names(&self, function: &Function) -> (String, String) {
        (self.arg_name(0, &function.name), self.arg_name(1, &function.name))
    }

    /// What markers among the arguments are called.
    fn arg_name(&self, at: usize, function: &str) -> String {
        if self.row.is_some() { SELECTION.into() } else { format!("arg{at}({function})") }
    }

    /// What follows are arguments of an aggregate.
    pub(super) fn enter_aggregate(&mut self) -> Result<(), CqlError> {
        let Some(row) = &mut self.row else {
            return Err(CqlError::invalid("Aggregation function are not supported in the where clause"));
        };
        match std::mem::replace(&mut row.in_aggregate, true) {
            true => {
                let text = "aggregate functions cannot be used as arguments of aggregate functions";
                Err(CqlError::invalid(text))
            }
            false => Ok(()),
        }
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        args: &[ast::Expr],
        returns: DataType,
    ) -> Result<Expr, CqlError> {
        self.enter_aggregate()?;
        let argument = match args {
            [] => Ok(None),
            [arg, ..] => match self.natural(arg) {
                Some(natural) => self.bind(arg, &natural, "arg0").map(Some),
                None => self.selector(arg).map(Some),
            },
        };
        let Some(row) = &mut self.row else { return Err(CqlError::invalid("no row at hand")) };
        row.in_aggregate = false;
        let argument = argument?;
        let number = row.aggregates.len();
        row.aggregates.push(Aggregate { kind, argument, user: None });
        let slot = row.add(Source::Aggregate(number), returns.clone());
        Ok(Expr::new(returns, Node::Input(slot)))
    }

    /// Chooses the function of a name by its arguments.
    pub(super) fn callee(
        &self,
        name: &QualifiedName,
        args: &[ast::Expr],
        expected: Option<&DataType>,
    ) -> Result<Callee, CqlError> {
        let unknown = || match &self.row {
            Some(_) => CqlError::invalid(format!("Unknown function '{}'", written_name(name))),
            None => CqlError::invalid(format!("Unknown function {} called", written_name(name))),
        };
        if let Some(callee) = self.user_callee(name, args, expected)? {
            return Ok(callee);
        }
        if name.keyspace_str().is_some_and(|keyspace| keyspace != "system") {
            return Err(unknown());
        }
        let word = name.as_str().to_lowercase();
        if let Some(kind) = AggregateKind::from_name(&word) {
            return self.aggregate_callee(kind, &word, args);
        }
        args.iter().try_for_each(|arg| self.check_inner(arg))?;
        if word == "token" {
            let of_markers = || self.markers.table(self.scope.catalogue);
            let table = self.row.as_ref().map(|r| &r.table).or(self.table).or_else(of_markers);
            let table = table.ok_or_else(unknown)?;
            let key = table.partition_key.iter().map(|c| c.data_type.clone()).collect();
            return self.choose(&word, vec![function::token_function(key)], args, expected);
        }
        if word.starts_with("similarity_") {
            self.check_dimensions(args)?;
        }
        // Vectors written out are of floats, which is all that similarity is defined on.
        let written_out = args.iter().all(|arg| matches!(arg.kind, ExprKind::List(_)));
        let vector = |arg: &ast::Expr| match &arg.kind {
            ExprKind::List(parts) if written_out && word.starts_with("similarity_") => {
                Some(DataType::vector(DataType::Float, u32::try_from(parts.len()).ok()?))
            }
            _ => None,
        };
        let known = |arg: &ast::Expr| Argument {
            data_type: vector(arg).or_else(|| self.natural(arg)),
            text: term_text(arg),
        };
        let known: Vec<Argument> = args.iter().map(known).collect();
        let candidates = function::candidates(&word, &known, expected).ok_or_else(unknown)??;
        self.choose(&word, candidates, args, expected)
    }

    /// A vector written out must be as long as the one it is compared with.
    fn check_dimensions(&self, args: &[ast::Expr]) -> Result<(), CqlError> {
        let length = |arg: &ast::Expr| match (&arg.kind, self.type_of(arg, None)) {
            (_, Some(DataType::Vector { dimensions, .. })) => Some(dimensions as usize),
            (ExprKind::List(parts), _) => Some(parts.len()),
            _ => None,
        };
        let lengths: Vec<usize> = args.iter().filter_map(length).collect();
        match lengths.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Ok(()),
            false => Err(CqlError::invalid("All arguments must have the same vector dimensions")),
        }
    }

    fn aggregate_callee(
        &self,
        kind: AggregateKind,
        word: &str,
        args: &[ast::Expr],
    ) -> Result<Callee, CqlError> {
        let wanted = usize::from(kind != AggregateKind::CountRows);
        let adds = matches!(kind, AggregateKind::Sum | AggregateKind::Avg);
        if args.len() != wanted && adds {
            return Err(CqlError::invalid(format!(
                "Invalid call to function {word}, none of its type signatures match (known type signatures: {})",
                number_signatures(kind, word)
            )));
        }
        let any = matches!(kind, AggregateKind::Min | AggregateKind::Max);
        if args.len() != wanted && any {
            let text = format!("Invalid number of arguments for function system.{word}(any)");
            return Err(CqlError::invalid(text));
        }
        if args.len() != wanted {
            return Err(CqlError::invalid(format!(
                "Invalid number of arguments in call to function system.{word}: {wanted} required but {} provided",
                args.len()
            )));
        }
        let known = args.first().and_then(|a| self.natural(a));
        if let (Some(arg), None) = (args.first(), &known) {
            // Binding says what is wrong with the argument, if anything is.
            if self.row.is_some() && adds && matches!(arg.kind, ExprKind::Marker(_) | ExprKind::Null) {
                return Err(CqlError::invalid(format!(
                    "Ambiguous call to function {word} (can be matched by following signatures: {}): use type casts to disambiguate",
                    number_signatures(kind, word)
                )));
            }
            if self.row.is_some() && matches!(arg.kind, ExprKind::Marker(_) | ExprKind::Null) {
                return Err(CqlError::invalid(format!(
                    "Cannot infer type of argument {} in call to function system.{word}(any): use type casts to disambiguate",
                    term_text(arg)
                )));
            }
            let returns = if kind == AggregateKind::Count { DataType::BigInt } else { DataType::Blob };
            return Ok(Callee::Aggregate(kind, returns));
        }
        match kind.returns(known.as_ref()) {
            Some(returns) => Ok(Callee::Aggregate(kind, returns)),
            None if known.as_ref().is_some_and(|of| numbers_like(of).len() > 1) => {
                let of = known.as_ref().map(numbers_like).unwrap_or_default();
                let list: Vec<String> =
                    of.iter().map(|of| format!("system.{word} : ({of}) -> {of}")).collect();
                Err(CqlError::invalid(format!(
                    "Ambiguous call to function {word} (can be matched by following signatures: {}): use type casts to disambiguate",
                    list.join(", ")
                )))
            }
            None => Err(CqlError::invalid(format!(
                "Invalid call to function {word}, none of its type signatures match (known type signatures: {})",
                number_signatures(kind, word)
            ))),
        }
    }

    pub(super) fn choose(
        &self,
        word: &str,
        mut candidates: Vec<Function>,
        args: &[ast::Expr],
        expected: Option<&DataType>,
    ) -> Result<Callee, CqlError> {
        if candidates.len() == 1
            && let Some(only) = candidates.pop()
        {
            self.check_args(&only, args)?;
            return Ok(Callee::Scalar(only));
        }
        let mut fitting = Vec::new();
        for candidate in &candidates {
            if candidate.args.len() != args.len() || !returns_fit(self.wanted(expected), &candidate.returns) {
                continue;
            }
            let tests: Vec<Assignable> =
                args.iter().zip(&candidate.args).map(|(arg, data_type)| self.test(arg, data_type)).collect();
            if tests.iter().all(|t| *t == Assignable::Exact) {
                return Ok(Callee::Scalar(candidate.clone()));
            }
            if tests.iter().all(|t| *t != Assignable::No) {
                fitting.push(candidate.clone());
            }
        }
        let list =
            |functions: &[Function]| functions.iter().map(|f| f.to_string()).collect::<Vec<_>>().join(", ");
        match fitting.as_slice() {
            [] => Err(CqlError::invalid(format!(
                "Invalid call to function {word}, none of its type signatures match (known type signatures: {})",
                list(&candidates)
            ))),
            [only] => Ok(Callee::Scalar(only.clone())),
            several => Err(CqlError::invalid(format!(
                "Ambiguous call to function {word} (can be matched by following signatures: {}): use type casts to disambiguate",
                list(several)
            ))),
        }
    }

    fn check_args(&self, function: &Function, args: &[ast::Expr]) -> Result<(), CqlError> {
        if args.len() != function.args.len() && function.name.ends_with("json") {
            let text = format!("Invalid number of arguments for function {}(any)", function.name);
            return Err(CqlError::invalid(text));
        }
        if args.len() != function.args.len() {
            return Err(CqlError::invalid(format!(
                "Invalid number of arguments in call to function {}: {} required but {} provided",
                function.name,
                function.args.len(),
                args.len()
            )));
        }
        for (i, (arg, data_type)) in args.iter().zip(&function.args).enumerate() {
            if self.test(arg, data_type) == Assignable::No {
                return Err(CqlError::invalid(format!(
                    "Type error: {} cannot be passed as argument {i} of function {} of type {data_type}",
                    term_text(arg),
                    function.name
                )));
            }
        }
        Ok(())
    }

    /// The type of an expression, literals by their natural type; `None` for markers and nulls.
    fn natural(&self, written: &ast::Expr) -> Option<DataType> {
        match &written.kind {
            ExprKind::Literal(constant) => Some(literal::natural_type(constant)),
            ExprKind::Tuple(parts) if parts.len() == 1 => self.natural(&parts[0]),
            ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) | ExprKind::Tuple(_) => {
                self.infer(written)
            }
            _ => self.type_of(written, None),
        }
    }

    /// The type of an expression, if it can be told without binding it.
    pub fn type_of(&self, written: &ast::Expr, expected: Option<&DataType>) -> Option<DataType> {
        self.memo.type_of(written, expected, || self.find_type(written, expected))
    }

    fn find_type(&self, written: &ast::Expr, expected: Option<&DataType>) -> Option<DataType> {
        match &written.kind {
            ExprKind::Column(name) => self.row.as_ref()?.type_of_name(name.as_str()),
            ExprKind::CountRows => Some(DataType::BigInt),
            ExprKind::Function { name, args } => {
                Some(self.callee(name, args, expected).ok()?.returns().clone())
            }
            ExprKind::Cast { expr, to } if self.row.is_none() => {
                let to = types::resolve(self.scope, &self.keyspace(), to).ok()?;
                Some(self.cast_of_term(expr, &to, expected).ok()?.returns)
            }
            ExprKind::Cast { to, .. } | ExprKind::TypeHint { to, .. } => {
                types::resolve(self.scope, &self.keyspace(), to).ok()
            }
            ExprKind::Binary { op, left, right } => {
                Some(self.operation(*op, left, right, expected).ok()?.returns)
            }
            ExprKind::Negate(inner) => Some(self.negation(inner, expected).ok()?.returns),
            ExprKind::Field { of, field } => match self.type_of(of, None)? {
                DataType::Udt(udt) => {
                    Some(udt.fields.get(udt.field_index(field.as_str())?)?.data_type.clone())
                }
                _ => None,
            },
            ExprKind::Element { of, .. } => {
                super::row::element_types(&self.type_of(of, None)?).map(|(_, element)| element)
            }
            ExprKind::Slice { of, .. } => self.type_of(of, None).map(|t| t.freeze()),
            ExprKind::CellInfo { info, of } => {
                let one = if *info == ast::CellInfo::Ttl { DataType::Int } else { DataType::BigInt };
                let many = matches!(of.kind, ExprKind::Column(_) | ExprKind::Slice { .. })
                    && *info != ast::CellInfo::MaxWriteTime
                    && self.type_of(of, None).is_some_and(|t| t.is_multi_cell());
                Some(if many { DataType::list(one) } else { one })
            }
            ExprKind::Tuple(parts) if parts.len() == 1 => self.type_of(&parts[0], expected),
            ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) | ExprKind::Tuple(_) => {
                self.infer(written)
            }
            _ => None,
        }
    }
}

fn call(function: Function, args: Vec<Expr>) -> Expr {
    Expr::new(function.returns.clone(), Node::Call(Arc::new(function), args))
}

fn written_name(name: &QualifiedName) -> String {
    match name.keyspace_str() {
        Some(keyspace) => format!("{keyspace}.{}", name.as_str()),
        None => name.as_str().to_string(),
    }
}

fn callee_name(written: &ast::Expr) -> String {
    match &written.kind {
        ExprKind::Function { name, .. } if name.keyspace.is_some() => written_name(name),
        ExprKind::Function { name, .. } => format!("system.{}", name.as_str()),
        _ => term_text(written),
    }
}

fn no_operands(function: &Function) -> CqlError {
    CqlError::invalid(format!("{} takes other operands", function.name))
}

fn number_signatures(kind: AggregateKind, word: &str) -> String {
    let natives = NativeType::ALL.into_iter().map(types::native_type).filter(DataType::is_numeric);
    let signature = |of: DataType| {
        let returns = kind.returns(Some(&of)).unwrap_or(DataType::Blob);
        format!("system.{word} : ({of}) -> {returns}")
    };
    natives.map(signature).collect::<Vec<_>>().join(", ")
}

/// A cast from a type whose values have the same bytes, when there is exactly one.
fn compatible_cast(text: &str, from: &DataType, to: &DataType) -> Result<Function, CqlError> {
    let natives = NativeType::ALL.into_iter().map(types::native_type);
    let fitting = natives.filter(|source| source != to && value_compatible(source, from));
    let mut fitting: Vec<Function> =
        fitting.filter(|s| *s != DataType::Counter).filter_map(|s| function::cast_function(&s, to)).collect();
    match (fitting.len(), fitting.pop()) {
        (1, Some(only)) => Ok(only),
        (0, _) | (_, None) => Err(no_such_cast(text, to)),
        (_, Some(last)) => {
            fitting.push(last);
            let list: Vec<String> = fitting.iter().map(|f| f.to_string()).collect();
            Err(CqlError::invalid(format!(
                "Ambiguous call to function system.cast_as_{to} (can be matched by following signatures: {}): use type casts to disambiguate",
                list.join(", ")
            )))
        }
    }
}

/// Cassandra has one function per target type; a target without any cast has none to list.
fn no_such_cast(text: &str, to: &DataType) -> CqlError {
    let natives = NativeType::ALL.into_iter().map(types::native_type);
    let sources = natives.filter(|from| from != to && function::cast_function(from, to).is_some());
    let sources: Vec<String> =
        sources.map(|from| format!("system.cast_as_{to} : ({from}) -> {to}")).collect();
    CqlError::Invalid(match sources.is_empty() {
        true => format!("{text} cannot be cast to {to}"),
        false => format!(
            "Invalid call to function system.cast_as_{to}, none of its type signatures match (known type signatures: {})",
            sources.join(", ")
        ),
    })
}
