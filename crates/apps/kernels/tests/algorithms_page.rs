//! The page of algorithms says what the checker says.

#[allow(dead_code, reason = "the xtask that writes the page uses all of it")]
mod page;

use wattle::prelude::*;

#[test]
fn the_page_has_each_scenario_with_its_verdict() {
    let text = include_str!("../ALGORITHMS.md");
    let mut rows = 0;
    for family in page::families() {
        assert!(text.contains(&format!("## {}\n", page::title(&family))), "no head of {}", family[0].name);
        if let Some(source) = page::source(&family) {
            assert!(text.contains(&source), "{} has another source", family[0].name);
        }
        for scenario in family {
            let report = Checker::new(Model::Portable).check_scenario(scenario, None).expect("it is judged");
            let row = page::row(scenario, &page::verdict(&report));
            let found = text.lines().any(|line| line.starts_with(&row));
            assert!(found, "`cargo xtask algorithms` writes the page anew; it has no row that begins so:\n{row}");
            rows += 1;
        }
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), rows, "a row is of no scenario");
}
