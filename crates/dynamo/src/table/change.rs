//! How CreateTable makes a definition and UpdateTable changes one.

use super::definition::{
    BillingMode, FORMAT, Index, IndexKind, IndexStatus, KeyAttribute, StreamDefinition, TableDefinition,
    Throughput, ViewType,
};
use crate::error::{ApiError, ErrorName};
use crate::messages::Rule;
use crate::request::{CreateTable, IndexUpdate, NewIndex, UpdateTable, VectorUpdate, global_key};

const GLOBAL_MAX: usize = 20;
const VECTOR_MAX: usize = 5;

fn invalid(text: impl std::fmt::Display) -> ApiError {
    ApiError::validation(format!("One or more parameter values were invalid: {text}"))
}

impl TableDefinition {
    pub fn create(create: &CreateTable, id: String, now_ms: i64) -> TableDefinition {
        TableDefinition {
            format: FORMAT,
            name: create.table.clone(),
            id,
            created_ms: now_ms,
            key: create.key.clone(),
            billing: create.billing,
            on_demand_since_ms: (create.billing == BillingMode::PayPerRequest).then_some(now_ms),
            throughput: create.throughput,
            on_demand: create.on_demand.filter(|limits| limits.read.is_some() || limits.write.is_some()),
            warm: create.warm,
            indexes: create.indexes.clone(),
            vector_indexes: create.vector_indexes.clone(),
            stream: create.stream.map(|view| stream(view, now_ms)),
            former_streams: Vec::new(),
            time_to_live: None,
            tags: create.tags.clone(),
            deletion_protection: create.deletion_protection,
            encryption: create.encryption.clone(),
            class: create.class.clone(),
            restored: None,
        }
    }

    /// The definition after an UpdateTable, or why it cannot be.
    pub fn update(mut self, update: &UpdateTable, now_ms: i64) -> Result<TableDefinition, ApiError> {
        self.update_billing(update, now_ms)?;
        for change in &update.indexes {
            match change {
                IndexUpdate::Create(index) => self.add_index(index, update)?,
                IndexUpdate::Update { name, throughput, on_demand, warm } => {
                    let billing = self.billing;
                    let index = self.global_mut(name)?;
                    if let Some(wanted) = throughput {
                        if billing == BillingMode::PayPerRequest {
                            return Err(invalid(format!(
                                "ProvisionedThroughput should not be specified for index: {name} when BillingMode is \
                                 PAY_PER_REQUEST"
                            )));
                        }
                        let now = index.throughput.unwrap_or_default();
                        if (now.read, now.write) == (wanted.read, wanted.write) {
                            let units = [now.read.to_string(), now.write.to_string()];
                            return Err(Rule::IndexThroughputSame.refuse(&[name, &units[0], &units[1]]));
                        }
                        index.throughput =
                            Some(changed(index.throughput.unwrap_or_default(), *wanted, now_ms));
                    }
                    index.on_demand = on_demand.or(index.on_demand);
                    index.warm = warm.or(index.warm);
                }
                IndexUpdate::Delete { name } => {
                    self.global_mut(name)?;
                    self.indexes.retain(|index| index.name != *name);
                }
            }
        }
        for change in &update.vector_indexes {
            self.update_vector(change)?;
        }
        if let Some(wanted) = update.stream {
            self.update_stream(wanted, now_ms)?;
        }
        if let Some(encryption) = &update.encryption {
            self.encryption = encryption.clone();
        }
        if let Some(class) = &update.class {
            self.class = Some(class.clone());
        }
        self.deletion_protection = update.deletion_protection.unwrap_or(self.deletion_protection);
        self.warm = update.warm.or(self.warm);
        self.update_on_demand(update)?;
        Ok(self)
    }

    fn global_mut(&mut self, name: &str) -> Result<&mut Index, ApiError> {
        let found =
            self.indexes.iter_mut().find(|index| index.name == name && index.kind == IndexKind::Global);
        found.ok_or_else(|| ApiError::new(ErrorName::ResourceNotFound, "Requested resource not found"))
    }

    fn update_billing(&mut self, update: &UpdateTable, now_ms: i64) -> Result<(), ApiError> {
        let billing = update.billing.unwrap_or(self.billing);
        if billing == BillingMode::PayPerRequest {
            if update.throughput.is_some() {
                return Err(invalid(
                    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
                ));
            }
            if self.billing != billing {
                self.on_demand_since_ms = Some(now_ms);
                self.throughput = Throughput::default();
                self.indexes.iter_mut().for_each(|index| index.throughput = None);
            }
            self.billing = billing;
            return Ok(());
        }
        let switched = self.billing != billing;
        if switched {
            if update.throughput.is_none() {
                return Err(invalid(
                    "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
                ));
            }
            self.provision_indexes(update)?;
            self.on_demand = None;
        }
        self.billing = billing;
        let Some(wanted) = update.throughput else { return Ok(()) };
        let now = self.throughput;
        if !switched && (now.read, now.write) == (wanted.read, wanted.write) {
            return Err(ApiError::validation(format!(
                "The provisioned throughput for the table will not change. The requested value equals the current value. \
                 Current ReadCapacityUnits provisioned for the table: {r}. Requested ReadCapacityUnits: {r}. Current \
                 WriteCapacityUnits provisioned for the table: {w}. Requested WriteCapacityUnits: {w}. Refer to the Amazon \
                 DynamoDB Developer Guide for current limits and how to request higher limits.",
                r = now.read,
                w = now.write
            )));
        }
        self.throughput = changed(now, wanted, now_ms);
        Ok(())
    }

    /// With the switch to provisioned units every global index needs its own.
    fn provision_indexes(&mut self, update: &UpdateTable) -> Result<(), ApiError> {
        let given = |name: &str| {
            update.indexes.iter().any(
                |change| matches!(change, IndexUpdate::Update { name: of, throughput: Some(_), .. } if of == name),
            )
        };
        let globals = self.indexes.iter().filter(|index| index.kind == IndexKind::Global);
        let lacking: Vec<&str> =
            globals.map(|index| index.name.as_str()).filter(|name| !given(name)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        Err(invalid(format!(
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED for index: {}",
            lacking.join(",")
        )))
    }

    fn add_index(&mut self, new: &NewIndex, update: &UpdateTable) -> Result<(), ApiError> {
        if self.index(&new.name).is_some() || self.vector_index(&new.name).is_some() {
            return Err(ApiError::validation("Attempting to create an index which already exists"));
        }
        // A name that the table knows keeps its type, whatever the request says.
        let known = |name: &str| {
            let keys = std::iter::once(&self.key).chain(self.indexes.iter().map(|index| &index.key));
            keys.flat_map(|key| key.attributes()).find(|attribute| attribute.name == name)
        };
        let declared = update.attributes.clone().unwrap_or_default().into_iter();
        let attributes: Vec<KeyAttribute> = declared.map(|a| known(&a.name).cloned().unwrap_or(a)).collect();
        let key = global_key(&new.schema, &attributes)?;
        match (self.billing, new.throughput) {
            (BillingMode::PayPerRequest, Some(_)) => {
                return Err(invalid(format!(
                    "ProvisionedThroughput should not be specified for index: {} when BillingMode is PAY_PER_REQUEST",
                    new.name
                )));
            }
            (BillingMode::Provisioned, None) => {
                return Err(invalid(format!(
                    "ReadCapacityUnits and WriteCapacityUnits must both be specified for index: {} when BillingMode is \
                     PROVISIONED",
                    new.name
                )));
            }
            _ => {}
        }
        if self.indexes.iter().filter(|index| index.kind == IndexKind::Global).count() >= GLOBAL_MAX {
            return Err(ApiError::new(
                ErrorName::LimitExceeded,
                format!("GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_MAX}"),
            ));
        }
        self.indexes.push(Index {
            name: new.name.clone(),
            kind: IndexKind::Global,
            key,
            projection: new.projection.clone(),
            status: IndexStatus::Creating,
            backfilling: Some(false),
            throughput: new.throughput,
            on_demand: new.on_demand,
            warm: new.warm,
        });
        Ok(())
    }

    fn update_vector(&mut self, change: &VectorUpdate) -> Result<(), ApiError> {
        match change {
            VectorUpdate::Create(index) => {
                if self.index(&index.name).is_some() || self.vector_index(&index.name).is_some() {
                    return Err(ApiError::validation("Attempting to create an index which already exists"));
                }
                if self.billing != BillingMode::PayPerRequest {
                    return Err(invalid(
                        "VectorIndexes can only be specified when BillingMode is PAY_PER_REQUEST",
                    ));
                }
                if self.vector_indexes.len() >= VECTOR_MAX {
                    return Err(invalid(format!(
                        "VectorIndex count exceeds the per-table limit of {VECTOR_MAX}"
                    )));
                }
                self.vector_indexes.push(index.clone());
            }
            VectorUpdate::Delete { name } => {
                if self.vector_index(name).is_none() {
                    return Err(ApiError::new(ErrorName::ResourceNotFound, "Requested resource not found"));
                }
                self.vector_indexes.retain(|index| index.name != *name);
            }
        }
        Ok(())
    }

    fn update_stream(&mut self, wanted: Option<ViewType>, now_ms: i64) -> Result<(), ApiError> {
        match (wanted, self.stream.as_mut()) {
            (Some(_), Some(current)) if current.enabled => Err(ApiError::validation(format!(
                "Table already has an enabled stream: TableName: {}",
                self.name
            ))),
            (Some(view), _) => {
                self.former_streams.extend(self.stream.take());
                self.stream = Some(stream(view, now_ms));
                Ok(())
            }
            (None, Some(current)) if current.enabled => {
                current.disable(now_ms);
                Ok(())
            }
            (None, _) => {
                Err(ApiError::validation(format!("Table has no stream to disable: TableName: {}", self.name)))
            }
        }
    }

    /// Member by member; -1 takes a limit away.
    fn update_on_demand(&mut self, update: &UpdateTable) -> Result<(), ApiError> {
        let Some(wanted) = update.on_demand else { return Ok(()) };
        if self.billing == BillingMode::Provisioned {
            let name = if wanted.read.is_some() { "MaxReadRequestUnits" } else { "MaxWriteRequestUnits" };
            return Err(invalid(format!(
                "{name} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
            )));
        }
        let mut limits = self.on_demand.unwrap_or_default();
        limits.read = wanted.read.or(limits.read).filter(|units| *units != -1);
        limits.write = wanted.write.or(limits.write).filter(|units| *units != -1);
        self.on_demand = (limits.read.is_some() || limits.write.is_some()).then_some(limits);
        Ok(())
    }
}

fn changed(now: Throughput, wanted: Throughput, now_ms: i64) -> Throughput {
    let grew = wanted.read > now.read || wanted.write > now.write;
    let shrank = wanted.read < now.read || wanted.write < now.write;
    Throughput {
        read: wanted.read,
        write: wanted.write,
        last_increase_ms: if grew { Some(now_ms) } else { now.last_increase_ms },
        last_decrease_ms: if shrank { Some(now_ms) } else { now.last_decrease_ms },
        decreases_today: now.decreases_today,
    }
}

fn stream(view: ViewType, now_ms: i64) -> StreamDefinition {
    StreamDefinition { enabled: true, view, label: label(now_ms), disabled_ms: None }
}

/// `2026-11-18T00:37:34.851`: the civil date of a day number, counted in eras of 400 years from 1 March of year 0.
pub fn label(now_ms: i64) -> String {
    let (days, ms) = (now_ms.div_euclid(86_400_000), now_ms.rem_euclid(86_400_000));
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (seconds, millis) = (ms / 1000, ms % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}")
}
