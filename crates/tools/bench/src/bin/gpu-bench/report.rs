//! What was measured, as JSON for programs and as lines for people.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Everything that was measured on a machine.
#[derive(Serialize)]
pub struct Report {
    machine: crate::machine::Machine,
    measurements: Vec<Measurement>,
    notes: Vec<String>,
    /// The file that all results are written to as soon as they are known: the script may run out of time.
    #[serde(skip)]
    file: PathBuf,
}

/// A measurement, beside the peer's where there is one.
#[derive(Serialize)]
pub struct Measurement {
    pub name: String,
    /// The name of the unit: `seconds`, `cycles`.
    pub unit: &'static str,
    /// The median of Wattle's times.
    pub ours: f64,
    /// The peer's name, and its median.
    pub peer: Option<(String, f64)>,
    /// The peer's median divided by Wattle's; above 1 where Wattle is faster.
    pub ratio: Option<f64>,
    /// The rate in bytes per second, where it is meaningful.
    pub bytes_per_second: Option<f64>,
}

impl Measurement {
    pub fn new(name: impl Into<String>, unit: &'static str, ours: f64) -> Measurement {
        Measurement { name: name.into(), unit, ours, peer: None, ratio: None, bytes_per_second: None }
    }

    pub fn beside(self, peer: &str, theirs: Option<f64>) -> Measurement {
        let ratio = theirs.map(|theirs| theirs / self.ours);
        Measurement { peer: theirs.map(|theirs| (peer.to_owned(), theirs)), ratio, ..self }
    }

    /// As [`Measurement::beside`], for differences of times: those of nothing have no ratio.
    pub fn difference_beside(self, peer: &str, theirs: Option<f64>) -> Measurement {
        let measurement = self.beside(peer, theirs);
        let ratio = measurement.ratio.filter(|_| measurement.ours > 1.0);
        Measurement { ratio, ..measurement }
    }

    pub fn moving(self, bytes: usize) -> Measurement {
        Measurement { bytes_per_second: Some(bytes as f64 / self.ours), ..self }
    }
}

impl Report {
    pub fn new(machine: crate::machine::Machine, file: PathBuf) -> Report {
        Report { machine, measurements: Vec::new(), notes: Vec::new(), file }
    }

    /// The clock that cycles are counted in, in Hz, where it is known.
    pub fn clock_hz(&self) -> Option<f64> {
        self.machine.clock_hz
    }

    pub fn add(&mut self, measurement: Measurement) {
        eprintln!("{measurement}");
        self.measurements.push(measurement);
        self.save();
    }

    pub fn note(&mut self, note: String) {
        eprintln!("{note}");
        self.notes.push(note);
        self.save();
    }

    /// Writes the file; a file that cannot be written is reported and is no error, since what was measured is printed
    /// too.
    pub fn save(&self) {
        let written =
            serde_json::to_string_pretty(self).map_err(Into::into).and_then(|text| std::fs::write(&self.file, text));
        if let Err(error) = written {
            eprintln!("{} cannot be written: {error}", self.file.display());
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        self.measurements.iter().try_for_each(|measurement| writeln!(f, "{measurement}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<40} {:>12.4e} {}", self.name, self.ours, self.unit)?;
        if let Some(rate) = self.bytes_per_second {
            write!(f, " ({:.0} GB/s)", rate * 1e-9)?;
        }
        if let (Some((peer, theirs)), Some(ratio)) = (&self.peer, self.ratio) {
            write!(f, "; {peer} {theirs:.4e}, ratio {ratio:.3}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_above_one_where_ours_is_faster() {
        let measurement = Measurement::new("x", "seconds", 2.0).moving(10).beside("peer", Some(3.0));
        assert_eq!((measurement.ratio, measurement.bytes_per_second), (Some(1.5), Some(5.0)));
        assert_eq!(Measurement::new("x", "seconds", 2.0).beside("peer", None).ratio, None);
    }
}
