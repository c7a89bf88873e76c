//! CREATE and DROP FUNCTION and AGGREGATE: what is kept, and what depends on what.

use super::{changed, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, DropFunction, EffectKind, NewAggregate, NewFunction, TargetKind};
use crate::error::SchemaError;
use crate::function::{UserAggregate, UserFunction};
use crate::keyspace::{Keyspace, is_local_system_name, is_replicated_system_name};
use std::sync::Arc;

fn refuse<T>(text: String) -> Result<T, SchemaError> {
    Err(SchemaError::Invalid(text))
}

/// Functions of the server's own keyspaces are nobody's to change.
fn guard(keyspace: &str) -> Result<(), SchemaError> {
    if is_local_system_name(keyspace) || is_replicated_system_name(keyspace) {
        return refuse(format!("System keyspace '{keyspace}' is not user-modifiable"));
    }
    Ok(())
}

fn told(
    next: Catalogue,
    kind: EffectKind,
    target: TargetKind,
    name: (&str, &str),
    types: &[String],
) -> Applied {
    let mut applied = changed(next, kind, target, name.0, name.1);
    if let Some(effect) = &mut applied.effect {
        effect.arguments = types.to_vec();
    }
    applied
}

pub(super) fn create(catalogue: &Catalogue, new: &NewFunction) -> Result<Applied, SchemaError> {
    let (place, function) = (new.keyspace.as_str(), &new.function);
    let name = &*function.name;
    guard(place)?;
    if new.or_replace && new.if_not_exists {
        return refuse("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives".into());
    }
    let names: Vec<&str> = function.arguments.iter().map(|(name, _)| name.as_str()).collect();
    if (1..names.len()).any(|at| names[..at].contains(&names[at])) {
        return refuse(format!(
            "Duplicate argument names for given function {name} with argument names [{}]",
            names.join(", ")
        ));
    }
    let Some(before) = catalogue.keyspace(place) else {
        return refuse(format!("Keyspace '{place}' doesn't exist"));
    };
    let types = function.argument_types();
    if before.aggregate(name, &types).is_some() {
        return refuse(format!("Function '{name}' cannot replace an aggregate"));
    }
    let existing = before.function(name, &types);
    if let Some(existing) = existing {
        if new.if_not_exists {
            return Ok(unchanged(catalogue));
        }
        if !new.or_replace {
            return refuse(format!("Function '{name}' already exists"));
        }
        if existing.called_on_null != function.called_on_null {
            // Cassandra names what is asked for, not what would be right.
            let directive = if function.called_on_null { "CALLED" } else { "RETURNS NULL" };
            return refuse(format!("Function '{name}' must have {directive} ON NULL INPUT directive"));
        }
        if existing.returns != function.returns {
            return refuse(format!(
                "Cannot replace function '{name}', the new return type {} is not compatible with the return type {} of \
                 existing function",
                function.returns, existing.returns
            ));
        }
        if **existing == *function {
            return Ok(unchanged(catalogue));
        }
    }
    let kind = if existing.is_some() { EffectKind::Updated } else { EffectKind::Created };
    let mut keyspace = Keyspace::clone(before);
    keyspace.functions.retain(|other| *other.name != *name || other.argument_types() != types);
    keyspace.functions.push(Arc::new(UserFunction::clone(function)));
    keyspace.sort_functions();
    let next = catalogue.with_keyspace(keyspace);
    Ok(told(next, kind, TargetKind::Function, (place, name), &new.written_types))
}

pub(super) fn create_aggregate(catalogue: &Catalogue, new: &NewAggregate) -> Result<Applied, SchemaError> {
    let (place, aggregate) = (new.keyspace.as_str(), &new.aggregate);
    let name = &*aggregate.name;
    guard(place)?;
    if new.or_replace && new.if_not_exists {
        return refuse("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives".into());
    }
    let Some(before) = catalogue.keyspace(place) else {
        return Err(SchemaError::Config(format!("Keyspace {place} doesn't exist")));
    };
    let aggregate = &checked(before, aggregate)?;
    let types: Vec<&str> = aggregate.arguments.iter().map(String::as_str).collect();
    if before.function(name, &types).is_some() {
        return refuse(format!("Aggregate '{name}' cannot replace a function"));
    }
    let existing = before.aggregate(name, &types);
    if let Some(existing) = existing {
        if new.if_not_exists {
            return Ok(unchanged(catalogue));
        }
        if !new.or_replace {
            return refuse(format!("Aggregate '{name}' already exists"));
        }
        if existing.returns != aggregate.returns {
            return refuse(format!(
                "Cannot replace aggregate '{name}', the new return type {} isn't compatible with the return type {} of \
                 existing function",
                aggregate.returns, existing.returns
            ));
        }
        if **existing == *aggregate {
            return Ok(unchanged(catalogue));
        }
    }
    let kind = if existing.is_some() { EffectKind::Updated } else { EffectKind::Created };
    let mut keyspace = Keyspace::clone(before);
    keyspace.aggregates.retain(|other| *other.name != *name || other.arguments != aggregate.arguments);
    keyspace.aggregates.push(Arc::new(aggregate.clone()));
    keyspace.sort_functions();
    let next = catalogue.with_keyspace(keyspace);
    Ok(told(next, kind, TargetKind::Aggregate, (place, name), &new.written_types))
}

/// The aggregate with the type that it gives, when its functions are there and fit.
fn checked(keyspace: &Keyspace, aggregate: &UserAggregate) -> Result<UserAggregate, SchemaError> {
    let place = &keyspace.name;
    let signature = |name: &str, types: &[&str]| format!("{place}.{name}({})", types.join(", "));
    let (state, types) = (aggregate.state_function.as_str(), aggregate.state_arguments());
    let Some(state_function) = keyspace.function(state, &types) else {
        return refuse(format!("State function {} doesn't exist", signature(state, &types)));
    };
    if state_function.returns != aggregate.state_type {
        return refuse(format!(
            "State function {} return type must be the same as the first argument type - check STYPE, argument and return types",
            signature(state, &types)
        ));
    }
    let mut returns = aggregate.state_type.clone();
    if let Some(last) = aggregate.final_function.as_deref() {
        let types = [aggregate.state_type.as_str()];
        let Some(function) = keyspace.function(last, &types) else {
            return refuse(format!("Final function {} doesn't exist", signature(last, &types)));
        };
        returns.clone_from(&function.returns);
    }
    if aggregate.initial.is_none() && !state_function.called_on_null {
        return refuse(format!(
            "Cannot create aggregate '{}' without INITCOND because state function {place}.{state} does not accept 'null' \
             arguments",
            aggregate.name
        ));
    }
    Ok(UserAggregate { returns, ..aggregate.clone() })
}

pub(super) fn drop(catalogue: &Catalogue, dropped: &DropFunction) -> Result<Applied, SchemaError> {
    let (place, name) = (dropped.keyspace.as_str(), dropped.name.as_str());
    guard(place)?;
    let (title, word) =
        if dropped.is_aggregate { ("Aggregate", "AGGREGATE") } else { ("Function", "FUNCTION") };
    let written = match &dropped.arguments {
        Some(types) => format!("{place}.{name}({})", types.join(", ")),
        None => format!("{place}.{name}"),
    };
    let missing = || match dropped.if_exists {
        true => Ok(unchanged(catalogue)),
        false => refuse(format!("{title} '{written}' doesn't exist")),
    };
    let Some(before) = catalogue.keyspace(place) else { return missing() };
    let namesakes = before.functions_named(name).count() + before.aggregates_named(name).count();
    if dropped.arguments.is_none() && namesakes > 1 {
        return refuse(format!(
            "'DROP {word} {name}' matches multiple function definitions; specify the argument types by issuing a statement \
             like 'DROP {word} {name} (type, type, ...)'. You can use cqlsh 'DESCRIBE {word} {name}' command to find all \
             overloads"
        ));
    }
    let wanted = |types: &[&str]| dropped.arguments.as_ref().is_none_or(|wanted| wanted == types);
    let mut keyspace = Keyspace::clone(before);
    let types: Vec<String> = if dropped.is_aggregate {
        let found = before
            .aggregates_named(name)
            .find(|a| wanted(&a.arguments.iter().map(String::as_str).collect::<Vec<_>>()));
        let Some(found) = found else { return missing() };
        keyspace.aggregates.retain(|other| !Arc::ptr_eq(other, found));
        found.arguments.clone()
    } else {
        let found = before.functions_named(name).find(|function| wanted(&function.argument_types()));
        let Some(found) = found else { return missing() };
        let types = found.argument_types();
        let users = before.aggregates.iter().filter(|aggregate| aggregate.calls(name, &types));
        let users: Vec<String> = users.map(|aggregate| format!("{place}.{}", aggregate.name)).collect();
        if !users.is_empty() {
            return refuse(format!(
                "Function '{written}' is still referenced by aggregates {}",
                users.join(", ")
            ));
        }
        keyspace.functions.retain(|other| !Arc::ptr_eq(other, found));
        types.into_iter().map(String::from).collect()
    };
    let target = if dropped.is_aggregate { TargetKind::Aggregate } else { TargetKind::Function };
    let next = catalogue.with_keyspace(keyspace);
    Ok(told(next, EffectKind::Dropped, target, (place, name), &types))
}
