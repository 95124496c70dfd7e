//! The PTX of each scenario's kernels, as it is emitted for sm_90. Of many similar lines the first three are kept.

use std::collections::BTreeMap;

use wattle_ptx::PtxTarget;

#[test]
fn every_scenario() {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (scenario, kernel) in crate::tools::kernels() {
        // Of the known algorithms, litmus tests and mistakes, which show nothing new of the generator, no text is kept.
        if ["/algorithms/", "/litmus/", "/wild/"].iter().any(|folder| kernel.site.file.contains(folder)) {
            continue;
        }
        let module = crate::tools::module(&kernel, &PtxTarget::new(90));
        let text = texts.entry(scenario).or_insert_with(|| module.header.clone());
        *text += "\n";
        *text += &crate::tools::shortened(&module.body);
    }
    assert!(texts.len() > 60, "only {} scenarios", texts.len());
    for (scenario, text) in texts {
        insta::assert_snapshot!(scenario.clone(), text, &scenario);
    }
}

/// `.ci/conformance-ptx` relies on it: what is assembled for the later ones is the code for sm_90.
#[test]
fn code_for_later_capabilities_is_that_for_sm_90() {
    for (_, kernel) in crate::tools::kernels() {
        let [first, later @ ..] = [90, 100, 120].map(|sm| crate::tools::module(&kernel, &PtxTarget::new(sm)).body);
        assert!(later.iter().all(|body| *body == first), "{}", kernel.name);
    }
}
