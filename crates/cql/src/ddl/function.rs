//! CREATE and DROP FUNCTION and AGGREGATE, from the syntax tree to the schema's terms.
//!
//! Bodies are not looked at here: those in languages that run are compiled before, if the server runs functions at all.

use crate::CqlError;
use crate::bind::Scope;
use crate::bind::expr::bind_term;
use crate::bind::markers::Markers;
use crate::bind::types::{self, text_of};
use cql_syntax::ast::{self, TypeKind};
use model::literal::format_literal;
use query::expr::Evaluated;
use query::{Ids, Request, Values};
use schema::{DropFunction, NewAggregate, NewFunction, UserAggregate, UserFunction, is_system_name};

/// The languages that are kept and not run. Cassandra 5.0 has only the first; dumps of older ones have the second.
const LANGUAGES: [&str; 2] = ["java", "javascript"];

fn both_directives(or_replace: bool, if_not_exists: bool) -> Result<(), CqlError> {
    match or_replace && if_not_exists {
        true => Err(CqlError::invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives")),
        false => Ok(()),
    }
}

pub(crate) fn new_function(
    scope: Scope<'_>,
    keyspace: &str,
    create: &ast::CreateFunction,
) -> Result<NewFunction, CqlError> {
    let language = create.language.as_str().to_lowercase();
    let resolve = resolves(scope, keyspace);
    if resolve {
        both_directives(create.or_replace, create.if_not_exists)?;
        if !LANGUAGES.contains(&language.as_str()) && sandbox::Language::named(&language).is_none() {
            return Err(CqlError::invalid(
                "Currently only Java UDFs are available in Cassandra. For more information - CASSANDRA-18252 and \
                 CASSANDRA-17281",
            ));
        }
        if let Some(twice) = duplicate(create) {
            return Err(twice);
        }
    }
    let mut arguments = Vec::with_capacity(create.args.len());
    for argument in &create.args {
        let data_type = match resolve {
            true => part_type(scope, keyspace, &argument.data_type, "Argument", false)?,
            false => String::new(),
        };
        arguments.push((argument.name.as_str().to_string(), data_type));
    }
    let returns = match resolve {
        true => part_type(scope, keyspace, &create.returns, "Return type", false)?,
        false => String::new(),
    };
    Ok(NewFunction {
        keyspace: keyspace.to_string(),
        or_replace: create.or_replace,
        if_not_exists: create.if_not_exists,
        written_types: create.args.iter().map(|argument| qualified(keyspace, &argument.data_type)).collect(),
        function: UserFunction {
            name: create.name.as_str().into(),
            arguments,
            returns,
            called_on_null: create.null_input == ast::NullInput::Called,
            language,
            body: create.body.value.clone(),
        },
    })
}

fn duplicate(create: &ast::CreateFunction) -> Option<CqlError> {
    let names: Vec<&str> = create.args.iter().map(|argument| argument.name.as_str()).collect();
    let twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
    twice.then(|| {
        CqlError::invalid(format!(
            "Duplicate argument names for given function {} with argument names [{}]",
            create.name.as_str(),
            names.join(", ")
        ))
    })
}

pub(super) fn new_aggregate(
    scope: Scope<'_>,
    keyspace: &str,
    create: &ast::CreateAggregate,
) -> Result<NewAggregate, CqlError> {
    let resolve = resolves(scope, keyspace);
    if resolve {
        both_directives(create.or_replace, create.if_not_exists)?;
    }
    let mut aggregate = UserAggregate {
        name: create.name.as_str().into(),
        arguments: Vec::new(),
        state_function: create.state_function.as_str().to_string(),
        state_type: String::new(),
        final_function: create.final_function.as_ref().map(|name| name.as_str().to_string()),
        initial: None,
        returns: String::new(),
    };
    if resolve {
        for written in &create.arg_types {
            aggregate.arguments.push(part_type(scope, keyspace, written, "Argument", true)?);
        }
        aggregate.state_type = part_type(scope, keyspace, &create.state_type, "State type", true)?;
        // That the state function is not there is told before what is wrong with the first state.
        let place = scope.keyspace(Some(keyspace))?;
        if place.function(&aggregate.state_function, &aggregate.state_arguments()).is_some() {
            aggregate.initial = initial(scope, keyspace, create)?;
        }
    }
    Ok(NewAggregate {
        keyspace: keyspace.to_string(),
        or_replace: create.or_replace,
        if_not_exists: create.if_not_exists,
        written_types: create.arg_types.iter().map(|written| qualified(keyspace, written)).collect(),
        aggregate,
    })
}

/// The first state, computed and written as CQL.
fn initial(
    scope: Scope<'_>,
    keyspace: &str,
    create: &ast::CreateAggregate,
) -> Result<Option<String>, CqlError> {
    struct NoIds;
    impl Ids for NoIds {
        fn timeuuid(&self) -> [u8; 16] {
            [0; 16]
        }

        fn uuid(&self) -> [u8; 16] {
            [0; 16]
        }
    }
    let Some(written) = &create.initial else { return Ok(None) };
    let data_type = types::resolve(scope, keyspace, &create.state_type)?;
    let bound = bind_term(scope, written, &data_type, "(dummy)", &mut Markers::new(0))?;
    if bound.has_marker() {
        return Err(CqlError::invalid("INITCOND is a constant; nothing can be bound here"));
    }
    let value = match bound.evaluate(&Request::new(Values::NONE, 0), &NoIds)? {
        Evaluated::Value(bytes) => bytes.into_owned(),
        Evaluated::Null | Evaluated::Unset => return Ok(None),
    };
    Ok(Some(format_literal(&data_type, Some(&value))))
}

pub(super) fn dropped(
    scope: Scope<'_>,
    keyspace: &str,
    drop: &ast::DropFunction,
    is_aggregate: bool,
) -> Result<DropFunction, CqlError> {
    let types = drop.arg_types.as_ref().filter(|_| resolves(scope, keyspace));
    let arguments = types.map(|types| {
        let text = |written: &ast::DataType| part_type(scope, keyspace, written, "Argument", is_aggregate);
        types.iter().map(text).collect::<Result<Vec<String>, CqlError>>()
    });
    Ok(DropFunction {
        keyspace: keyspace.to_string(),
        name: drop.name.as_str().to_string(),
        if_exists: drop.if_exists,
        is_aggregate,
        arguments: arguments.transpose()?,
    })
}

/// Whether types can be looked up: what belongs to the server or is not there is refused before types matter.
fn resolves(scope: Scope<'_>, keyspace: &str) -> bool {
    !is_system_name(keyspace) && scope.catalogue.keyspace(keyspace).is_some()
}

/// The type of an argument or result. It is frozen anyway, so saying so is refused.
fn part_type(
    scope: Scope<'_>,
    keyspace: &str,
    written: &ast::DataType,
    what: &str,
    in_full: bool,
) -> Result<String, CqlError> {
    if let TypeKind::Frozen(inner) = &written.kind
        && !matches!(inner.kind, TypeKind::Tuple(_))
    {
        types::resolve(scope, keyspace, written)?;
        let text = if in_full { qualified(keyspace, written) } else { text_of(written) };
        return Err(CqlError::invalid(format!(
            "{what} '{text}' cannot be frozen; remove frozen<> modifier from '{text}'"
        )));
    }
    Ok(types::resolve(scope, keyspace, written)?.to_string())
}

/// A type as it was written, with user-defined types in full.
fn qualified(keyspace: &str, written: &ast::DataType) -> String {
    let inner = |part: &ast::DataType| qualified(keyspace, part);
    match &written.kind {
        TypeKind::List(element) => format!("list<{}>", inner(element)),
        TypeKind::Set(element) => format!("set<{}>", inner(element)),
        TypeKind::Map(key, value) => format!("map<{}, {}>", inner(key), inner(value)),
        TypeKind::Tuple(parts) => {
            format!("tuple<{}>", parts.iter().map(inner).collect::<Vec<_>>().join(", "))
        }
        TypeKind::Frozen(part) => format!("frozen<{}>", inner(part)),
        TypeKind::User(name) => format!("{keyspace}.{}", name.as_str()),
        _ => text_of(written),
    }
}
