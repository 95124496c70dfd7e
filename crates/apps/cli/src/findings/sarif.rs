//! SARIF, the format of static analysis that code hosts show at source lines (OASIS, "Static Analysis Results
//! Interchange Format (SARIF) Version 2.1.0").

use std::path::Path;

use serde_json::{Value, json};

use super::{Case, Finding, Outcome, Place};
use crate::exit::Exit;

/// The log: one run with a result for each finding, and a notification for each case without an answer. The same
/// finding under several targets is one result that names them.
pub fn log(exit: Exit, cases: &[Case]) -> Value {
    let mut found: Vec<(&Finding, &str, Vec<&str>)> = Vec::new();
    let mut notes = Vec::new();
    for case in cases {
        match &case.outcome {
            Outcome::Passed | Outcome::NotPossible(_) => {}
            Outcome::Unanswered(why) => notes.push(json!({
                "level": "warning",
                "message": { "text": format!("{}: {}: not answered: {why}", case.suite, case.name) },
            })),
            Outcome::Failed(findings) => {
                for finding in findings {
                    let is_it = |(other, suite, _): &(&Finding, &str, Vec<&str>)| {
                        *suite == case.suite && other.kind == finding.kind && other.places == finding.places
                    };
                    match found.iter_mut().find(|found| is_it(found)) {
                        Some((_, _, names)) => names.push(&case.name),
                        None => found.push((finding, &case.suite, vec![&case.name])),
                    }
                }
            }
        }
    }
    let mut kinds: Vec<&str> = found.iter().map(|(finding, ..)| finding.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<_> =
        kinds.iter().map(|kind| json!({ "id": id(kind), "shortDescription": { "text": kind } })).collect();
    let results: Vec<_> = found.iter().map(|(finding, suite, names)| result(finding, suite, names)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "wattle",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "invocations": [{
                // What does not hold is a result; the run failed where something has no answer.
                "executionSuccessful": exit != Exit::Unanswered && notes.is_empty(),
                "exitCode": exit.code(),
                "toolExecutionNotifications": notes,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule's name: the kind with hyphens.
fn id(kind: &str) -> String {
    kind.replace(' ', "-")
}

fn result(finding: &Finding, suite: &str, names: &[&str]) -> Value {
    // Servers refuse a log of which one result has no location.
    let nowhere = Place { file: suite.to_owned(), line: None, column: None };
    let (first, others) = finding.places.split_first().unwrap_or((&nowhere, &[]));
    let text = format!("{suite} ({}): {}\n\n{}", names.join(", "), finding.message, finding.story);
    let related: Vec<_> = others
        .iter()
        .enumerate()
        .map(|(number, place)| {
            let mut location = location(place);
            location["id"] = json!(number + 1);
            location["message"] = json!({ "text": "takes part" });
            location
        })
        .collect();
    json!({
        "ruleId": id(&finding.kind),
        "level": "error",
        "message": { "text": text.trim_end() },
        "locations": [location(first)],
        "relatedLocations": related,
    })
}

fn location(place: &Place) -> Value {
    let here = std::env::current_dir().unwrap_or_default();
    let mut physical = json!({ "artifactLocation": { "uri": uri(&relative(&place.file, &here)) } });
    if let Some(line) = place.line {
        physical["region"] = json!({ "startLine": line });
        if let Some(column) = place.column {
            physical["region"]["startColumn"] = json!(column);
        }
    }
    json!({ "physicalLocation": physical })
}

/// A file's name relative to the folder where the command runs, if it is in there: servers know files by their places
/// in a repository.
fn relative(file: &str, folder: &Path) -> String {
    let inside = Path::new(file).strip_prefix(folder).ok().filter(|rest| !rest.as_os_str().is_empty());
    inside.map_or_else(|| file.to_owned(), |rest| rest.display().to_string())
}

/// A file's name as a URI reference (RFC 3986, 2.1 and 4.2): relative names stay relative to where the command ran.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    if file.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in file.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{relative, uri};

    #[test]
    fn files_inside_the_folder_are_relative_to_it() {
        assert_eq!(relative("/home/me/app/src/a.cu", Path::new("/home/me/app")), "src/a.cu");
        assert_eq!(relative("/home/me/application/a.cu", Path::new("/home/me/app")), "/home/me/application/a.cu");
        assert_eq!(relative("src/a.cu", Path::new("/home/me/app")), "src/a.cu");
    }

    #[test]
    fn names_as_uris() {
        assert_eq!(uri("src/my kernel.rs"), "src/my%20kernel.rs");
        assert_eq!(uri("/tmp/a.cu"), "file:///tmp/a.cu");
        assert_eq!(uri("a\\b:c.cu"), "a/b%3Ac.cu");
    }
}
