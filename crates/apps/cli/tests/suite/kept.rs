//! Verdicts that are kept on disk: the next run takes them, and says so; what is wrong is searched again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A folder of a test's own, and the command in it, which keeps its verdicts there.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Result<Folder> {
        let folder = std::env::temp_dir().join(format!("wattle-kept-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }

    fn wattle(&self, args: &[&str]) -> Result<(Option<i32>, String)> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        command.env("WATTLE_CACHE", self.0.join("cache")).current_dir(&self.0);
        let output = command.args(args).stdin(Stdio::null()).output()?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?))
    }

    fn json(&self, args: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.wattle(&[args, &["--json"]].concat())?.1)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A verdict without what another run may say otherwise.
fn steady(mut verdict: Value) -> Value {
    for name in ["milliseconds", "kept"] {
        verdict.as_object_mut().expect("a verdict").remove(name);
    }
    verdict
}

#[test]
fn scenarios() -> Result {
    let folder = Folder::new("scenarios")?;
    let check = ["check", "stack-treiber", "--no-advice", "--target", "portable"];
    let first = folder.json(&check)?["scenarios"][0]["verdicts"][0].clone();
    let second = folder.json(&check)?["scenarios"][0]["verdicts"][0].clone();
    assert_eq!((&first["verdict"], &first["kept"]), (&"holds".into(), &0.into()));
    assert_eq!(second["kept"], second["searches"], "{second}");
    assert_eq!(steady(first), steady(second));
    let said = |args: &[&str]| Ok::<_, Box<dyn std::error::Error>>(folder.wattle(args)?.1.contains("kept from"));
    assert!(said(&check)?);
    assert!(!said(&[&check[..], &["--no-cache"]].concat())?);
    // Another question is another search.
    for other in [&["--progress", "fair"][..], &["--loop-bound", "5"], &["--no-symmetry"]] {
        assert!(!said(&[&check[..], other].concat())?, "{other:?}");
    }
    assert!(!said(&["check", "stack-treiber", "--no-advice", "--target", "vulkan"])?);
    // What is wrong has its story each time.
    for _ in 0..2 {
        let (code, text) =
            folder.wattle(&["check", "peterson-broken-no-acquire", "--no-advice", "--target", "portable"])?;
        assert!(code == Some(1) && !text.contains("kept from"), "{text}");
        assert!(text.contains("reads"), "{text}");
    }
    Ok(())
}

#[test]
fn modules() -> Result {
    let folder = Folder::new("modules")?;
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/foreign/tests/cuda/ticket_lock.ptx");
    std::fs::copy(kernel, folder.0.join("lock.ptx"))?;
    let launch = ["check", "lock.ptx", "--block", "4", "--entry", "right", "--arg", "counter=i32[1]:0"];
    let asserted = [&launch[..], &["--assert", "counter == 4"]].concat();
    let (code, first) = folder.wattle(&asserted)?;
    assert!(code == Some(0) && !first.contains("kept"), "{first}");
    let (code, second) = folder.wattle(&asserted)?;
    assert_eq!((code, second.replace(", kept from an earlier run", "")), (Some(0), first));
    assert!(second.contains(", kept from an earlier run"), "{second}");
    assert_eq!(folder.json(&asserted)?["kept"], true);
    assert_eq!(folder.json(&launch)?["kept"], false, "another question");
    // A damaged file is no verdict.
    let builds = std::fs::read_dir(folder.0.join("cache"))?;
    for file in builds.flat_map(|build| std::fs::read_dir(build.expect("it is read").path())).flatten() {
        std::fs::write(file?.path(), "damaged")?;
    }
    assert_eq!(folder.json(&asserted)?["kept"], false);
    Ok(())
}

/// Threads that add to one word, whose values say who came when: 720 executions of six, 5,040 of seven.
#[test]
fn lists() -> Result {
    let folder = Folder::new("lists")?;
    let declared = "OpCapability Shader\nOpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"main\"\n\
                    OpDecorate %id BuiltIn LocalInvocationId\n%void = OpTypeVoid\n%f = OpTypeFunction %void\n\
                    %uint = OpTypeInt 32 0\n%v3 = OpTypeVector %uint 3\n%in = OpTypePointer Input %v3\n\
                    %six = OpConstant %uint 6\n%all = OpTypeArray %uint %six\n%array = OpTypePointer StorageBuffer %all\n\
                    %ptr = OpTypePointer StorageBuffer %uint\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n\
                    %id = OpVariable %in Input\n%sum = OpVariable %ptr StorageBuffer\n%out = OpVariable %array StorageBuffer";
    let body = "%main = OpFunction %void None %f\n%l = OpLabel\n%id3 = OpLoad %v3 %id\n\
                %thread = OpCompositeExtract %uint %id3 0\n%old = OpAtomicIAdd %uint %sum %one %zero %one\n\
                %mine = OpAccessChain %ptr %out %thread\nOpStore %mine %old\nOpReturn\nOpFunctionEnd\n";
    let claim = "; @Config: 6, 1, 1\n; @Input: %sum = 0, %out = {0, 0, 0, 0, 0, 0}\n; @Output: forall (%sum == 6)\n";
    std::fs::write(folder.0.join("count.spvasm"), format!("{claim}{declared}\n{body}"))?;
    std::fs::write(folder.0.join("list.csv"), "path,expected\ncount.spvasm,pass\n")?;
    let asked = ["modules", ".", "--ask", "assertion", "--expected", "list.csv"];
    let mut threads: String = (0..7).map(|thread| format!("P{thread}@cta 0,gpu 0 |")).collect();
    threads = threads.trim_end_matches('|').to_owned() + ";\n";
    let adds: String = (0..7).map(|_| "atom.relaxed.gpu.add r0, x, 1 |").collect();
    let litmus =
        format!("PTX count\n\"\"\n{{ x=0; }}\n{threads}{};\nforall (P0:r0 != 7)\n", adds.trim_end_matches('|'));
    std::fs::write(folder.0.join("count.litmus"), litmus)?;
    std::fs::write(folder.0.join("litmus.csv"), "path,expected\ncount.litmus,1\n")?;
    let judged = ["litmus", ".", "--model", "ptx", "--expected", "litmus.csv"];
    for list in [&asked[..], &judged[..]] {
        let (code, first) = folder.wattle(list)?;
        assert!(code == Some(0) && !first.contains("kept"), "{list:?}: {first}");
        let (code, second) = folder.wattle(list)?;
        assert_eq!(code, Some(0));
        assert!(second.contains("1 of 1 kept from an earlier run\n1 passed, 0 failed"), "{list:?}: {second}");
        assert_eq!(folder.json(list)?["kept"], 1);
        let anew = folder.wattle(&[list, &["--no-cache"]].concat())?.1;
        assert!(!anew.contains("kept"), "{anew}");
    }
    Ok(())
}
