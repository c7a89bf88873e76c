//! Conditional writes: checks as data to the store, the outcome as rows with `[applied]`.

use super::build::{Builder, RowTargets, Targets};
use super::cells::as_i32;
use super::failed::{self, Looked};
use super::plan::{ConditionPlan, Conditions, ElementExpr, OperandExpr, WriteKind, WritePlan};
use super::room::Room;
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{ConditionFault, NullIn, UnsetIn, ValueFault};
use crate::spec::Rows;
use crate::values::Values;
use model::key::PartitionKey;
use store::{
    CellCondition, Comparison, ConditionalCommit, Element, Mutation, RowCheck, RowPosition, Store, Subject,
    TableId, Tree,
};

/// Runs statements that share the request's values (one statement, outside a batch).
pub(super) async fn execute<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    batch: bool,
) -> Result<Rows, QueryError> {
    let values = vec![ctx.request.values; plans.len()];
    execute_each(ctx, plans, &values, batch).await
}

/// Runs the statements of a conditional batch: all apply, or none.
pub(super) async fn execute_each<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    values: &[Values<'_>],
    batch: bool,
) -> Result<Rows, QueryError> {
    let commit = commit(ctx, plans, values)?;
    let looked = Looked::at(plans, &commit.checks);
    let outcome = ctx.store.commit_if(commit).await?;
    failed::answer(ctx, plans, &looked, &outcome, batch).await
}

/// The statements as one conditional commit; `values[i]` belong to statement `i`.
pub fn commit<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    values: &[Values<'_>],
) -> Result<ConditionalCommit, QueryError> {
    let mut partition: Option<(TableId, PartitionKey)> = None;
    let mut checks: Vec<RowCheck> = Vec::new();
    let mut mutations: Vec<Mutation> = Vec::new();
    let room = Room::new(&ctx.limits);
    for (place, (plan, values)) in plans.iter().zip(values).enumerate() {
        let mut request = ctx.request;
        request.values = *values;
        let document;
        let bound;
        if let Some(source) = &plan.json {
            document = super::json::Document::parse(source, &request, ctx.ids)?;
            bound = document.bound(source);
            request.values = Values(&bound);
        }
        let builder = Builder {
            request: &request,
            ids: ctx.ids,
            batch_timestamp: None,
            conditional: true,
            statement: place as u32,
            room: &room,
            partitions: None,
        };
        let stamp = builder.stamp(plan)?;
        let targets = builder.targets(plan)?;
        check_partition(plan, &targets, &mut partition)?;
        if plan.condition.is_some() {
            add_check(plan, &targets, &request, ctx, &mut checks)?;
        }
        mutations.extend(builder.mutations(plan, targets, &stamp)?);
    }
    // Statics first, then the rows in their order: the first check that fails, or cannot be made, decides.
    checks.sort_by(|a, b| place(&a.position).cmp(&place(&b.position)));
    let Some((table, key)) = partition else {
        return Err(ConditionFault::EmptyBatch.into());
    };
    let mut merged = Mutation::new(table, key.clone());
    mutations.into_iter().for_each(|m| merged.extend(m));
    Ok(ConditionalCommit {
        table,
        key,
        checks,
        further: Vec::new(),
        mutations: vec![merged],
        provisional_timestamp: ctx.request.now_micros,
        now_seconds: ctx.request.now_seconds,
    })
}

fn check_partition(
    plan: &WritePlan,
    targets: &Targets,
    partition: &mut Option<(TableId, PartitionKey)>,
) -> Result<(), QueryError> {
    let table = TableId(plan.table.id);
    let single = if targets.further.is_empty() { &targets.partitions[..] } else { &[] };
    let [key] = single else {
        return Err(ConditionFault::SeveralKeys { deletes: plan.kind == WriteKind::Delete }.into());
    };
    match partition {
        None => *partition = Some((table, key.clone())),
        Some((seen, _)) if *seen != table => {
            return Err(ConditionFault::SeveralTables.into());
        }
        Some((_, seen)) if seen != key => {
            return Err(ConditionFault::SeveralPartitions.into());
        }
        Some(_) => {}
    }
    Ok(())
}

fn place(position: &RowPosition) -> Option<&[u8]> {
    match position {
        RowPosition::Static => None,
        RowPosition::Row(clustering) => Some(clustering),
    }
}

/// The checks of one statement: conditions on statics are a check of the static row, whichever row the statement names.
fn add_check<S: Store>(
    plan: &WritePlan,
    targets: &Targets,
    request: &Request<'_>,
    ctx: &Context<'_, S>,
    checks: &mut Vec<RowCheck>,
) -> Result<(), QueryError> {
    let position = position(plan, targets)?;
    let columns = || plan.table.living_columns();
    match &plan.condition {
        None => Ok(()),
        Some(ConditionPlan::NotExists) => add_existence(checks, position, false, columns),
        Some(ConditionPlan::Exists) => add_existence(checks, position, true, columns),
        Some(ConditionPlan::Columns(list)) => {
            let conditions: Vec<CellCondition> =
                list.iter().map(|c| c.evaluate(request, ctx)).collect::<Result<_, _>>()?;
            let (statics, regulars): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|c| c.is_static);
            let trees = |cells: Vec<CellCondition>| cells.into_iter().map(Tree::from).collect::<Vec<_>>();
            for (position, conditions) in [(position, trees(regulars)), (RowPosition::Static, trees(statics))]
            {
                if !conditions.is_empty() {
                    add_conditions(checks, position, conditions, columns)?;
                }
            }
            Ok(())
        }
    }
}

/// The row that a conditional statement names.
fn position(plan: &WritePlan, targets: &Targets) -> Result<RowPosition, QueryError> {
    match &targets.rows {
        RowTargets::None => Ok(RowPosition::Static),
        RowTargets::Rows(rows) => match &rows[..] {
            [row] => Ok(RowPosition::Row(row.clone())),
            _ => Err(ConditionFault::SeveralRows { deletes: plan.kind == WriteKind::Delete }.into()),
        },
        RowTargets::Ranges(_) => Err(ConditionFault::RangeOfRows.into()),
    }
}

type Living = Option<std::sync::Arc<[model::row::ColumnId]>>;

fn add_existence(
    checks: &mut Vec<RowCheck>,
    position: RowPosition,
    wanted: bool,
    columns: impl Fn() -> Living,
) -> Result<(), QueryError> {
    match checks.iter().find(|c| c.position == position) {
        Some(check) if check.exists == Some(wanted) => Ok(()),
        Some(check) if check.exists.is_some() => Err(ConditionFault::ExistsAndNotExists.into()),
        Some(_) => Err(ConditionFault::ValuesAndExistence { exists: wanted }.into()),
        None => {
            let exists = Some(wanted);
            checks.push(RowCheck { position, exists, conditions: Vec::new(), columns: columns() });
            Ok(())
        }
    }
}

/// Conditions of several statements on one row become one check of that row.
fn add_conditions(
    checks: &mut Vec<RowCheck>,
    position: RowPosition,
    conditions: Vec<Tree>,
    columns: impl Fn() -> Living,
) -> Result<(), QueryError> {
    match checks.iter_mut().find(|c| c.position == position) {
        Some(check) if check.exists.is_some() => {
            Err(ConditionFault::ValuesAndExistence { exists: false }.into())
        }
        Some(check) => {
            check.conditions.extend(conditions);
            Ok(())
        }
        None => {
            checks.push(RowCheck { position, exists: None, conditions, columns: columns() });
            Ok(())
        }
    }
}

impl Conditions {
    fn evaluate<S: Store>(
        &self,
        request: &Request<'_>,
        ctx: &Context<'_, S>,
    ) -> Result<CellCondition, QueryError> {
        let evaluate = |expr: &Expr| -> Result<Option<Vec<u8>>, QueryError> {
            match expr.evaluate(request, ctx.ids)? {
                Evaluated::Value(bytes) => Ok(Some(bytes.into_owned())),
                Evaluated::Null => Ok(None),
                Evaluated::Unset => Err(UnsetIn::Condition { column: self.name.to_string() }.into()),
            }
        };
        let element = match &self.element {
            None => None,
            Some(ElementExpr::Field(index)) => Some(Element::Field(*index)),
            Some(ElementExpr::MapKey(key)) => {
                let key = evaluate(key)?.ok_or(NullIn::MapElement)?;
                Some(Element::MapKey(key))
            }
            Some(ElementExpr::ListIndex(index)) => {
                let index = evaluate(index)?.ok_or(NullIn::ListElement)?;
                let index = as_i32(&index)?;
                if index < 0 {
                    return Err(ConditionFault::NegativeListIndex { index }.into());
                }
                Some(Element::ListIndex(index))
            }
        };
        let values = match &self.operand {
            OperandExpr::One(expr) => vec![evaluate(expr)?],
            // An alternative that is unset is none.
            OperandExpr::List(exprs) => {
                let mut values = Vec::with_capacity(exprs.len());
                for expr in exprs {
                    match expr.evaluate(request, ctx.ids)? {
                        Evaluated::Value(bytes) => values.push(Some(bytes.into_owned())),
                        Evaluated::Null => values.push(None),
                        Evaluated::Unset => {}
                    }
                }
                values
            }
            OperandExpr::ListValue(expr) => {
                let list = evaluate(expr)?.ok_or(NullIn::AlternativesOfCondition)?;
                let parts = model::value::elements::elements(&list).map_err(|_| ValueFault::ShortList)?;
                parts.flatten().map(|part| part.map(<[u8]>::to_vec)).collect()
            }
        };
        let needs_value = matches!(self.comparison, Comparison::Contains | Comparison::ContainsKey);
        if needs_value && values.iter().any(Option::is_none) {
            return Err(ValueFault::ComparedWithNull { symbol: self.comparison.symbol() }.into());
        }
        Ok(CellCondition {
            column: self.column,
            is_static: self.is_static,
            data_type: self.data_type.clone(),
            path: element.into_iter().collect(),
            subject: Subject::Value,
            comparison: self.comparison,
            values,
        })
    }
}
