//! CREATE and DROP FUNCTION and AGGREGATE: what is kept, and what depends on what.

use super::{changed, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, DropFunction, EffectKind, NewAggregate, NewFunction, TargetKind};
use crate::fault::{RoutineFault, SchemaError, SystemFault};
use crate::function::{UserAggregate, UserFunction};
use crate::keyspace::{Keyspace, is_local_system_name, is_replicated_system_name};
use crate::name::{FullName, Signature};
use std::sync::Arc;

/// Functions of the server's own keyspaces are nobody's to change.
fn guard(keyspace: &str) -> Result<(), SchemaError> {
    if is_local_system_name(keyspace) || is_replicated_system_name(keyspace) {
        return Err(SystemFault::Keyspace { keyspace: keyspace.to_string() }.into());
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
        return Err(RoutineFault::ReplaceAndIfNotExists.into());
    }
    let names: Vec<&str> = function.arguments.iter().map(|(name, _)| name.as_str()).collect();
    if (1..names.len()).any(|at| names[..at].contains(&names[at])) {
        return Err(RoutineFault::DuplicateArguments {
            function: name.to_string(),
            arguments: names.iter().map(|name| name.to_string()).collect(),
        }
        .into());
    }
    let Some(before) = catalogue.keyspace(place) else {
        return Err(SchemaError::KeyspaceMissing(place.to_string()));
    };
    let types = function.argument_types();
    if before.aggregate(name, &types).is_some() {
        return Err(RoutineFault::ReplacesAggregate { function: name.to_string() }.into());
    }
    let existing = before.function(name, &types);
    if let Some(existing) = existing {
        if new.if_not_exists {
            return Ok(unchanged(catalogue));
        }
        if !new.or_replace {
            return Err(RoutineFault::FunctionExists { function: name.to_string() }.into());
        }
        if existing.called_on_null != function.called_on_null {
            // Cassandra names what is asked for, not what would be right.
            let directive = if function.called_on_null { "CALLED" } else { "RETURNS NULL" };
            return Err(RoutineFault::NullInputDiffers { function: name.to_string(), directive }.into());
        }
        if existing.returns != function.returns {
            return Err(RoutineFault::ReturnsDiffer {
                function: name.to_string(),
                returns: function.returns.to_string(),
                before: existing.returns.to_string(),
            }
            .into());
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
        return Err(RoutineFault::ReplaceAndIfNotExists.into());
    }
    let Some(before) = catalogue.keyspace(place) else {
        return Err(RoutineFault::AggregateKeyspaceMissing { keyspace: place.to_string() }.into());
    };
    let aggregate = &checked(before, aggregate)?;
    let types: Vec<&str> = aggregate.arguments.iter().map(String::as_str).collect();
    if before.function(name, &types).is_some() {
        return Err(RoutineFault::ReplacesFunction { aggregate: name.to_string() }.into());
    }
    let existing = before.aggregate(name, &types);
    if let Some(existing) = existing {
        if new.if_not_exists {
            return Ok(unchanged(catalogue));
        }
        if !new.or_replace {
            return Err(RoutineFault::AggregateExists { aggregate: name.to_string() }.into());
        }
        if existing.returns != aggregate.returns {
            return Err(RoutineFault::AggregateReturnsDiffer {
                aggregate: name.to_string(),
                returns: aggregate.returns.to_string(),
                before: existing.returns.to_string(),
            }
            .into());
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
    let signature = |name: &str, types: &[&str]| Signature {
        name: FullName::new(place, name),
        arguments: Some(types.iter().map(|of| of.to_string()).collect()),
    };
    let (state, types) = (aggregate.state_function.as_str(), aggregate.state_arguments());
    let Some(state_function) = keyspace.function(state, &types) else {
        return Err(RoutineFault::StateFunctionMissing { function: signature(state, &types) }.into());
    };
    if state_function.returns != aggregate.state_type {
        return Err(RoutineFault::StateFunctionReturns { function: signature(state, &types) }.into());
    }
    let mut returns = aggregate.state_type.clone();
    if let Some(last) = aggregate.final_function.as_deref() {
        let types = [aggregate.state_type.as_str()];
        let Some(function) = keyspace.function(last, &types) else {
            return Err(RoutineFault::FinalFunctionMissing { function: signature(last, &types) }.into());
        };
        returns.clone_from(&function.returns);
    }
    if aggregate.initial.is_none() && !state_function.called_on_null {
        return Err(RoutineFault::FirstStateMissing {
            aggregate: aggregate.name.to_string(),
            function: FullName::new(place, state),
        }
        .into());
    }
    Ok(UserAggregate { returns, ..aggregate.clone() })
}

pub(super) fn drop(catalogue: &Catalogue, dropped: &DropFunction) -> Result<Applied, SchemaError> {
    let (place, name) = (dropped.keyspace.as_str(), dropped.name.as_str());
    guard(place)?;
    let written = || Signature { name: FullName::new(place, name), arguments: dropped.arguments.clone() };
    let missing = || match dropped.if_exists {
        true => Ok(unchanged(catalogue)),
        false => Err(RoutineFault::Missing { is_aggregate: dropped.is_aggregate, routine: written() }.into()),
    };
    let Some(before) = catalogue.keyspace(place) else { return missing() };
    let namesakes = before.functions_named(name).count() + before.aggregates_named(name).count();
    if dropped.arguments.is_none() && namesakes > 1 {
        return Err(RoutineFault::Ambiguous {
            is_aggregate: dropped.is_aggregate,
            function: name.to_string(),
        }
        .into());
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
            return Err(RoutineFault::Referenced { function: written(), aggregates: users }.into());
        }
        keyspace.functions.retain(|other| !Arc::ptr_eq(other, found));
        types.into_iter().map(String::from).collect()
    };
    let target = if dropped.is_aggregate { TargetKind::Aggregate } else { TargetKind::Function };
    let next = catalogue.with_keyspace(keyspace);
    Ok(told(next, EffectKind::Dropped, target, (place, name), &types))
}
