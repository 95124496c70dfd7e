//! Modules that end too early, between two instructions as well: the error names the line.

use wattle_foreign::{Launch, Source, Unsupported, World, spirv};

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR"))).expect("the file is there")
}

#[test]
fn ptx() {
    let text = read("cuda/spin_lock.ptx");
    // Up to the end of its first kernel.
    let whole = text.find("}\n").expect("a kernel") + 1;
    for (end, _) in text[..whole].match_indices([';', '\n', '(', '{', ')', ']', ',']) {
        let cut = text[..=end].to_owned();
        let lines = cut.lines().count();
        let launch = Launch { grid: [1; 3], block: [1; 3], arguments: Vec::new(), dynamic_shared: 0 };
        let error = World::new(Source { file: "cut.ptx".into(), text: cut }, None, launch).expect_err("it is cut off");
        let Unsupported::Text(refused) = &error else { panic!("{end}: {error}") };
        assert!((1..=lines as u32).contains(&refused.line), "{end}: {error}");
        assert!(!error.to_string().contains("Some("), "{error}");
    }
    let error = |text: &str| {
        let launch = Launch { grid: [1; 3], block: [1; 3], arguments: Vec::new(), dynamic_shared: 0 };
        let source = Source { file: "cut.ptx".into(), text: text.into() };
        World::new(source, Some("k"), launch).expect_err("it is cut off").to_string()
    };
    let head = ".version 8.6\n.target sm_90\n.global .u32 x;\n\n";
    assert_eq!(error(head), "cut.ptx:3: the text ends without a kernel (`.entry`)\n  in `.global .u32 x;`");
    let found = error(&format!("{head}.entry k(.param .u64 p"));
    assert!(found.starts_with("cut.ptx:5: expected ')', found the end of the text"), "{found}");
}

#[test]
fn spirv() {
    let text = read("glsl/barrier.spvasm");
    for lines in 1..text.lines().count() {
        let cut: String = text.lines().take(lines).map(|line| format!("{line}\n")).collect();
        let setting = spirv::Header::default().setting();
        let error = match spirv::read("cut.spvasm", cut.as_bytes()) {
            Ok(module) => spirv::launch("cut.spvasm", &module, None, &setting).expect_err("it is cut off"),
            Err(error) => error,
        };
        let error = error.to_string();
        let line = error.strip_prefix("cut.spvasm:").and_then(|rest| rest.split(':').next()?.parse().ok());
        assert!(line.is_some_and(|line: usize| (1..=lines).contains(&line)), "{lines}: {error}");
    }
}
