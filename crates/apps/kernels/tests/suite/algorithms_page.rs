//! The page of algorithms says what the checker says.

use wattle::prelude::*;

#[test]
fn the_page_has_each_scenario_with_its_verdict() {
    let text = include_str!("../../ALGORITHMS.md");
    let mut rows = 0;
    for family in crate::page::families() {
        assert!(text.contains(&format!("## {}\n", crate::page::title(&family))), "no head of {}", family[0].name);
        if let Some(source) = crate::page::source(&family) {
            assert!(text.contains(&source), "{} has another source", family[0].name);
        }
        for scenario in family {
            let report = Checker::new(Model::Portable).check_scenario(scenario, None).expect("it is judged");
            let row = crate::page::row(scenario, &crate::page::verdict(&report));
            let found = text.lines().any(|line| line.starts_with(&row));
            assert!(found, "`cargo xtask algorithms` writes the page anew; it has no row that begins so:\n{row}");
            rows += 1;
        }
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), rows, "a row is of no scenario");
}
