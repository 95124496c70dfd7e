//! `wattle orders`: in how many orders the accesses can happen, and what each gives, without and with the fences.

use clap::Args;
use wattle::checker::{Checker, OrderTable, Variant};
use wattle::memory::Model;

use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::limits::{LimitArgs, limited};
use crate::panics;
use crate::run;
use crate::session::Session;
use crate::text::{self, Tone};

#[derive(Args, Debug)]
pub struct OrdersArgs {
    /// The scenario: one that names what it observes (`wattle list` has them)
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Lists the orders themselves
    #[arg(long, short)]
    pub list: bool,
    /// The size of the work [default: the scenario's own for proofs]
    #[arg(long, short = 'n', value_parser = crate::values::size, allow_negative_numbers = true)]
    pub size: Option<usize>,
    /// The maximum number of iterations of a loop that may go on for ever
    #[arg(long, value_name = "N")]
    pub loop_bound: Option<u32>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Prints the table of a scenario.
pub fn orders(session: &mut Session<'_>, args: &OrdersArgs) -> Result<Exit, Stop> {
    let scenario = choice::scenario(session.scenarios, &args.name)?;
    if args.size.is_some() {
        run::sized(&[scenario])?;
    }
    let (scenario, size) = (*scenario, args.size);
    let mut checker = limited(&Checker::new(Model::Portable), &session.limits);
    if let Some(bound) = args.loop_bound {
        checker = checker.loop_bound(bound);
    }
    let table = session.limits.within(move || panics::kept(|| OrderTable::of(&checker, &scenario, size)).0);
    let table = table.map_err(Input::from)?;
    let mut table = table.map_err(|error| Input::new("orders", error.to_string()))?;
    if table.outcomes.is_empty() {
        if let Some(reached) = session.limits.reached() {
            return Err(Input::from(reached).into());
        }
        if !table.unknown.is_empty() {
            let why: Vec<String> = table.unknown.iter().map(ToString::to_string).collect();
            return Err(Input::new("orders", format!("not everything was looked at: {}", why.join("; "))).into());
        }
        let message = format!(
            "`{}` names nothing that it observes, or all of its variants race; a scenario names an observation by \
             `summary.observe(&[(\"A\", a)])`",
            args.name
        );
        return Err(Input::new("orders", message).into());
    }
    let exit = if table.unknown.is_empty() { Exit::Holds } else { Exit::Unanswered };
    if session.json {
        if !args.list {
            let orders = table.variants.iter_mut().flat_map(|variant| variant.orders.values_mut());
            orders.for_each(|orders| orders.listed.clear());
        }
        session.report("orders", exit, &table)?;
        return Ok(exit);
    }
    counted(session, &args.name, &table)?;
    by_model(session, &table)?;
    if args.list {
        listed(session, &table)?;
    }
    if !table.unknown.is_empty() {
        session.line("")?;
        let head = session.style.paint(Tone::Note, "not everything was looked at:");
        for why in &table.unknown {
            session.line(format!("  {head} {why}"))?;
        }
        session.line("  `>=` and `?` stand where there may be more")?;
    }
    Ok(exit)
}

/// A number of orders of a variant, which may be too small where not all were looked at.
fn number(variant: &Variant, count: u64) -> String {
    let open = variant.unknown.contains(&Model::Unordered);
    if open { format!(">= {count}") } else { count.to_string() }
}

fn counted(session: &mut Session<'_>, name: &str, table: &OrderTable) -> Result<(), Stop> {
    let title = session.style.paint(Tone::Strong, name);
    session.line(format!(
        "{title}: orders of the accesses, a thread's own to different places in any order but across a fence"
    ))?;
    session.line("")?;
    let mut rows = vec![row(["case", "outcome"], table.variants.iter().map(|variant| variant.name.clone()))];
    for outcome in &table.outcomes {
        // With many accesses no case says what they have in common.
        let case = table.cases.get(outcome).filter(|case| case.len() <= 2);
        let case = case.map(|case| case.join(", ")).unwrap_or_default();
        let counts = table.variants.iter().map(|variant| {
            let open = variant.unknown.contains(&Model::Unordered);
            let none = || if open { "?".to_owned() } else { "-".to_owned() };
            variant.orders.get(outcome).map_or_else(none, |orders| number(variant, orders.count))
        });
        rows.push(row([&case, outcome], counts));
    }
    let totals =
        table.variants.iter().map(|variant| number(variant, variant.orders.values().map(|orders| orders.count).sum()));
    rows.push(row(["", "orders in all"], totals));
    for line in text::table(&rows) {
        session.line(format!("  {line}"))?;
    }
    session.line("")?;
    Ok(session.line("  A fence orders, and does not wait: it takes orders away, and makes no thread come first.")?)
}

fn row(first: [&str; 2], rest: impl Iterator<Item = String>) -> Vec<String> {
    first.into_iter().map(str::to_owned).chain(rest).collect()
}

/// Prints which outcomes there are under each model.
fn by_model(session: &mut Session<'_>, table: &OrderTable) -> Result<(), Stop> {
    session.line("")?;
    session.line("  possible under each model:")?;
    let mut rows = vec![row(["model", "outcome"], table.variants.iter().map(|variant| variant.name.clone()))];
    for (number, model) in Model::ALL.into_iter().enumerate() {
        for (at, outcome) in table.outcomes.iter().enumerate() {
            let seen = table.variants.iter().map(|variant| {
                let (_, outcomes) = &variant.outcomes[number];
                if table.refused.iter().any(|(refused, _)| *refused == model) {
                    return "n/a".to_owned();
                }
                match outcomes.first().map(String::as_str) {
                    Some("data race") => "race",
                    _ if outcomes.contains(outcome) => "yes",
                    _ if variant.unknown.contains(&model) => "?",
                    _ => "-",
                }
                .to_owned()
            });
            rows.push(row([if at == 0 { model.name() } else { "" }, outcome], seen));
        }
    }
    for line in text::table(&rows) {
        session.line(format!("    {line}"))?;
    }
    for (model, why) in &table.refused {
        session.line("")?;
        let lines = text::wrap(&format!("{}: {why}", model.name()), text::WIDTH);
        lines.iter().try_for_each(|line| session.line(format!("  {line}")))?;
    }
    Ok(())
}

fn listed(session: &mut Session<'_>, table: &OrderTable) -> Result<(), Stop> {
    for variant in &table.variants {
        session.line("")?;
        session.line(format!("  {}:", session.style.paint(Tone::Strong, &variant.name)))?;
        for (outcome, orders) in &variant.orders {
            session.line(format!("    {outcome}"))?;
            for order in &orders.listed {
                session.line(format!("      {}", order.join(", ")))?;
            }
            let more = orders.count.saturating_sub(orders.listed.len() as u64);
            if more > 0 {
                session.line(format!("      and {} more", text::count(more)))?;
            }
        }
    }
    Ok(())
}
