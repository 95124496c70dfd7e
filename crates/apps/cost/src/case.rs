//! The cases of a measurement, and the rounds in which all of them are measured.

use wattle::Result;

use crate::machine::Machine;
use crate::measure::{Rig, Setting, Watch};
use crate::operation::Operation;
use crate::report::Beside;
use crate::samples::{Samples, floor};

/// An operation in a setting, alone or beside another launch.
pub struct Case {
    pub operation: Operation,
    pub setting: Setting,
    pub beside: Option<Beside>,
    /// Whether it is a row of the report. The others show what two loops differ by that do the same.
    pub is_asked: bool,
}

impl Case {
    /// Whether the operation is no instruction on this machine and alone, so that it costs what loops differ by.
    pub fn is_idle(&self, machine: &Machine) -> bool {
        machine.is_host && self.beside.is_none() && self.operation.is_none_on_host()
    }
}

/// What the rounds of a measurement have shown.
pub struct Measured<'c> {
    cases: &'c [Case],
    /// The samples of each case, a round each.
    rounds: Vec<Vec<Samples>>,
    /// Whether it was stopped before its end.
    pub is_partial: bool,
}

impl<'c> Measured<'c> {
    /// Measures all cases in each of several rounds, on a rig of its own in each; `sample` takes the samples of one, and
    /// is given those of the round before.
    ///
    /// # Errors
    /// A launch fails, or there is too little memory.
    pub fn in_rounds(
        cases: &'c [Case],
        rounds: u32,
        watch: &Watch<'_>,
        rig: impl Fn() -> Result<Rig>,
        sample: impl Fn(&Rig, &Case, Option<&Samples>) -> Result<Samples>,
    ) -> Result<Measured<'c>> {
        let mut all: Vec<Vec<Samples>> = cases.iter().map(|_| Vec::new()).collect();
        let (mut done, steps) = (0, cases.len() * rounds as usize);
        'rounds: for _ in 0..rounds {
            let rig = rig()?;
            for (case, before) in cases.iter().zip(&mut all) {
                let samples = watch.unless_stopped(|| sample(&rig, case, before.last()))?;
                let Some(samples) = samples else { break 'rounds };
                before.push(samples);
                done += 1;
                (watch.step)(done, steps);
            }
        }
        Ok(Measured { cases, rounds: all, is_partial: done < steps })
    }

    /// The cases that are rows, with their samples, as far as the measurement came.
    pub fn rows(&self) -> impl Iterator<Item = (&'c Case, &[Samples])> {
        let all = self.cases.iter().zip(self.rounds.iter().map(Vec::as_slice));
        all.filter(|(case, rounds)| case.is_asked && !rounds.is_empty())
    }

    /// How many nanoseconds two loops differ by in a setting that do the same on this machine.
    pub fn floor(&self, setting: &Setting, machine: &Machine) -> f64 {
        let idle = self.cases.iter().zip(&self.rounds);
        let idle = idle.filter(|(case, _)| case.setting == *setting && case.is_idle(machine));
        floor(idle.flat_map(|(_, rounds)| rounds))
    }
}
