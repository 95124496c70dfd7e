//! Two scenarios of one name.

use wattle::ErrorKind;
use wattle::prelude::*;

/// One of them.
#[scenario(name = "twin")]
fn one(_: &Device) -> Result<()> {
    Ok(())
}

mod elsewhere {
    use wattle::prelude::*;

    /// The other.
    #[scenario]
    fn twin(_: &Device) -> Result<()> {
        Ok(())
    }
}

#[test]
fn both_places_are_named() {
    let error = Scenario::all().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DuplicateScenario { name: "twin", .. }), "{error}");
    let file = file!();
    for place in [format!("{file}:8:4"), format!("{file}:17:8")] {
        assert!(error.to_string().contains(&place), "{place}: {error}");
    }
}
