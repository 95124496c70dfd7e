//! Judges a launch together with what is claimed of its end.

use crate::claim::{Claim, Quantifier};
use crate::condition::Condition;
use crate::judge::judge;
use crate::spirv::{Answer, Question, answer};
use crate::unsupported::Unsupported;
use crate::verdict::{Options, Report, Verdict};
use crate::violation::Violation;
use crate::world::World;

/// What an error calls a claim.
const CLAIM: &str = "the claim of the module's comments (@Output)";

/// Judges a launch, and where it is right what is claimed of its end.
///
/// # Errors
/// A thread came to something that the checker has no meaning for, or the claim cannot be judged.
pub fn judge_claimed(
    world: &mut World,
    claim: Option<&Claim>,
    asserted: &[Condition],
    options: &Options,
) -> Result<Report, Unsupported> {
    let Some(claim) = claim else { return judge(world, asserted, options) };
    if world.parts[0].spirv.is_none() {
        return judge_ptx(world, claim, asserted, options);
    }
    let report = judge(world, asserted, options)?;
    let Verdict::Holds = &report.verdict else { return Ok(report) };
    let (answer, _) = answer(world, &Question::Assertion(claim.clone()), options)?;
    let verdict = match answer {
        Answer::Yes => Verdict::Holds,
        Answer::No(values) => Verdict::Violated(Violation::Assertion { text: CLAIM.to_owned(), values }, Vec::new()),
        Answer::Unknown(why) => Verdict::Unknown(why),
    };
    Ok(Report { verdict, ..report })
}

/// Judges a launch of a PTX module with a claim. One of all ends, or of none, is an assertion about each. One of `exists`
/// is met where its negation does not hold at each end.
fn judge_ptx(
    world: &mut World,
    claim: &Claim,
    asserted: &[Condition],
    options: &Options,
) -> Result<Report, Unsupported> {
    let as_assertion = |claim: &Claim, world: &World| {
        Condition::of_claim(claim, world.ranges()).map_err(|wrong| Unsupported::Shape(wrong.to_string()))
    };
    if claim.quantifier != Quantifier::Exists {
        let all = [asserted, &[as_assertion(claim, world)?]].concat();
        return judge(world, &all, options);
    }
    let report = judge(world, asserted, options)?;
    let Verdict::Holds = &report.verdict else { return Ok(report) };
    let never = Claim { quantifier: Quantifier::NotExists, condition: claim.condition.clone() };
    let never = as_assertion(&never, world)?;
    let verdict = match judge(world, &[never], options)?.verdict {
        Verdict::Violated(Violation::Assertion { .. }, _) => Verdict::Holds,
        Verdict::Holds => {
            let (text, values) = (CLAIM.to_owned(), "no execution ends so".to_owned());
            Verdict::Violated(Violation::Assertion { text, values }, Vec::new())
        }
        other @ (Verdict::Violated(..) | Verdict::Unknown(_)) => other,
    };
    Ok(Report { verdict, ..report })
}
