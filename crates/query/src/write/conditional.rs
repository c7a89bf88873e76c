//! Conditional writes: checks as data to the store, the outcome as rows with `[applied]`.

use super::build::{Builder, RowTargets, Targets};
use super::cells::as_i32;
use super::failed::{self, Looked};
use super::plan::{ConditionPlan, Conditions, ElementExpr, OperandExpr, WriteKind, WritePlan};
use super::room::Room;
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
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
        return Err(QueryError::invalid("A conditional batch needs at least one statement"));
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
        let what = if plan.kind == WriteKind::Delete { "deletions" } else { "updates" };
        let text = format!("IN on the partition key is not supported with conditional {what}");
        return Err(QueryError::invalid(text));
    };
    match partition {
        None => *partition = Some((table, key.clone())),
        Some((seen, _)) if *seen != table => {
            return Err(QueryError::invalid("Batch with conditions cannot span multiple tables"));
        }
        Some((_, seen)) if seen != key => {
            return Err(QueryError::invalid("Batch with conditions cannot span multiple partitions"));
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
            _ => {
                let what = if plan.kind == WriteKind::Delete { "deletions" } else { "updates" };
                Err(QueryError::invalid(format!(
                    "IN on the clustering key columns is not supported with conditional {what}"
                )))
            }
        },
        RowTargets::Ranges(_) => Err(QueryError::invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF conditions",
        )),
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
        Some(check) if check.exists.is_some() => {
            Err(QueryError::invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row"))
        }
        Some(_) => {
            let not = if wanted { "" } else { "NOT " };
            let text = format!("Cannot mix IF conditions and IF {not}EXISTS for the same row");
            Err(QueryError::invalid(text))
        }
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
            Err(QueryError::invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row"))
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
                Evaluated::Unset => Err(QueryError::invalid(format!(
                    "Invalid 'unset' value in condition for column {}",
                    self.name
                ))),
            }
        };
        let element = match &self.element {
            None => None,
            Some(ElementExpr::Field(index)) => Some(Element::Field(*index)),
            Some(ElementExpr::MapKey(key)) => {
                let key = evaluate(key)?
                    .ok_or_else(|| QueryError::invalid("Invalid null value for map element access"))?;
                Some(Element::MapKey(key))
            }
            Some(ElementExpr::ListIndex(index)) => {
                let index = evaluate(index)?
                    .ok_or_else(|| QueryError::invalid("Invalid null value for list element access"))?;
                let index = as_i32(&index)?;
                if index < 0 {
                    return Err(QueryError::invalid(format!("Invalid negative list index {index}")));
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
                let list = evaluate(expr)?
                    .ok_or_else(|| QueryError::invalid("Invalid null list in IN condition"))?;
                let parts = model::value::elements::elements(&list)
                    .map_err(|_| QueryError::invalid("Not enough bytes to read a list"))?;
                parts.flatten().map(|part| part.map(<[u8]>::to_vec)).collect()
            }
        };
        let needs_value = matches!(self.comparison, Comparison::Contains | Comparison::ContainsKey);
        if needs_value && values.iter().any(Option::is_none) {
            let symbol = self.comparison.symbol();
            return Err(QueryError::invalid(format!(
                "Invalid comparison with null for operator \"{symbol}\""
            )));
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
