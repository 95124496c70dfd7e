//! Prints cases: each launch's kernel as the printer of the intermediate representation writes it.

use std::fmt;

use super::Case;
use super::lower::kernel;

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = if self.unwritten { "holds nothing" } else { "holds zeros" };
        writeln!(f, "`data` {data}")?;
        for (number, launch) in self.launches.iter().enumerate() {
            writeln!(f, "queue {}, {} blocks × {} threads:", launch.queue, launch.blocks, launch.threads)?;
            let text = kernel(launch, number, 0).to_string();
            let own = |line: &&str| !line.contains("seen[") && !line.contains("param") && !line.contains("shared");
            for line in text.lines().filter(own) {
                writeln!(f, "  {}", line.replace(" of case", ""))?;
            }
        }
        Ok(())
    }
}
