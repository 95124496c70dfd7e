//! JUnit XML, as test runners write it and servers for continuous integration read it.

use std::error::Error;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Finding, Outcome};

/// The document: a suite for each scenario, file or folder, in the order in which they were judged.
pub fn text(command: &str, cases: &[Case]) -> Result<String, Box<dyn Error>> {
    let mut report = Report::new(format!("wattle {command}"));
    let mut suites: Vec<TestSuite> = Vec::new();
    for case in cases {
        let mut test = TestCase::new(case.name.as_str(), status(&case.outcome));
        test.set_classname(case.suite.as_str()).set_time(case.time);
        match suites.iter_mut().find(|suite| suite.name.as_str() == case.suite) {
            Some(suite) => drop(suite.add_test_case(test)),
            None => {
                let mut suite = TestSuite::new(case.suite.as_str());
                suite.add_test_case(test);
                suites.push(suite);
            }
        }
    }
    for mut suite in suites {
        let time = suite.test_cases.iter().filter_map(|case| case.time).sum();
        suite.set_time(time);
        report.add_test_suite(suite);
    }
    report.set_time(cases.iter().map(|case| case.time).sum());
    Ok(report.to_string()?)
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    match outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Failed(findings) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let join =
                |part: fn(&Finding) -> &str, between| findings.iter().map(part).collect::<Vec<_>>().join(between);
            status.set_type(findings.first().map_or("", |finding| &finding.kind));
            status.set_message(join(|finding| &finding.message, "; "));
            status.set_description(join(|finding| &finding.story, "\n\n"));
            status
        }
        Outcome::Unanswered(why) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("unknown").set_message(why.as_str());
            status
        }
        Outcome::NotPossible(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.as_str());
            status
        }
    }
}
