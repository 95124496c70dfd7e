//! `wattle check FILE.ptx`, as a script has it.

use std::path::Path;
use std::process::{Command, Stdio};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Checks a kernel of the compiled CUDA files of `wattle-foreign`.
fn check(file: &str, args: &[&str]) -> Result<(Option<i32>, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/foreign/tests/cuda").join(file);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    let output = command.arg("check").arg(path).args(args).stdin(Stdio::null()).output()?;
    Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

const LAUNCH: [&str; 4] = ["--block", "2", "--arg", "counter=i32[1]:0"];

#[test]
fn what_holds_and_what_does_not() -> Result {
    let (code, out, err) =
        check("spin_lock.ptx", &[&LAUNCH[..], &["--entry", "right", "--assert", "counter == 2"]].concat())?;
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("holds under ptx, 2 executions, 1 x 2 threads"), "{out}");
    let (code, out, _) = check("spin_lock.ptx", &[&LAUNCH[..], &["--entry", "textbook"]].concat())?;
    assert_eq!(code, Some(1));
    for said in [
        "data race on counter: nothing orders block 0, thread",
        "spin_lock.cu:12:",
        "PTX ISA 8.5, 8.7.1",
        "atom.global.cas.b32",
        "help: with this it holds",
        "spin_lock.cu:8:5: add __threadfence() behind it",
        "spin_lock.cu:15:5: add __threadfence() before it",
    ] {
        assert!(out.contains(said), "{said} is not in\n{out}");
    }
    Ok(())
}

#[test]
fn advice_on_spirv_is_in_the_words_of_its_source() -> Result {
    let (code, out, err) = check("../glsl/turn.spvasm", &["--arg", "_=u32[2]:5,6"])?;
    assert_eq!(code, Some(1), "{err}");
    for said in ["data race on tile", "help: with this it holds", "turn.comp:10: add barrier() behind it"] {
        assert!(out.contains(said), "{said} is not in\n{out}");
    }
    let (code, out, err) = check(
        "../glsl/publish.spvasm",
        &["--grid", "2", "--arg", "_=u32[1]:0", "--arg", "__0=u32[1]:0", "--arg", "__1=u32[1]:0"],
    )?;
    assert!(code == Some(1) && out.contains("publish.comp:12: add memoryBarrierBuffer() before it"), "{out}{err}");
    Ok(())
}

/// Comments at the head of a PTX file say what the options else do, and options take their place.
#[test]
fn comments_describe_a_launch_of_ptx() -> Result {
    let folder = std::env::temp_dir().join(format!("wattle-comments-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let cuda = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/foreign/tests/cuda/spin_lock.ptx");
    let comments = "// @Config: 2, 1, 1\n// @Input: %counter = i32[1]:0\n// @Output: forall (%counter == 2)\n";
    std::fs::write(folder.join("lock.ptx"), format!("{comments}{}", std::fs::read_to_string(cuda)?))?;
    for (args, code, said) in [
        (&["--entry", "right"][..], 0, "holds under ptx, 2 executions, 1 x 2 threads"),
        (&["--entry", "right", "--arg", "counter=i32[1]:1"], 1, "`counter == 2` does not hold: counter = 3"),
        (&["--entry", "right", "--block", "1"], 1, "`counter == 2` does not hold: counter = 1"),
        (&["--entry", "textbook"], 1, "data race on counter"),
        (&["--entry", "right", "--arg", "what=1"], 2, "the number of arguments (--arg) is 2, and should be 1"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        command.env("WATTLE_CACHE", "").current_dir(&folder).args(["check", "lock.ptx"]).args(args);
        let output = command.stdin(Stdio::null()).output()?;
        let out = String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?;
        assert!(output.status.code() == Some(code) && out.contains(said), "{args:?}: {out}");
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Push constants that options do not give are missing, and the error shows all that the shader takes.
#[test]
fn push_constants_have_to_be_given() -> Result {
    let (code, _, err) = check("../glsl/blocks.spvasm", &["--arg", "b=i32[8]:0"])?;
    assert_eq!(code, Some(2), "{err}");
    for said in ["--arg 'pc={dt=f32:0.5; n=u32:8}'", "push constants pc: {dt: f32, n: u32}"] {
        assert!(err.contains(said), "{said} is not in\n{err}");
    }
    let (code, out, err) = check(
        "../glsl/blocks.spvasm",
        &["--arg", "b=i32[8]:0", "--arg", "pc={dt=f32:0.5; n=3}", "--assert", "b.count == 3"],
    )?;
    assert_eq!(code, Some(0), "{out}{err}");
    Ok(())
}

#[test]
fn the_same_for_programs() -> Result {
    let (code, out, _) = check("spin_lock.ptx", &[&LAUNCH[..], &["--entry", "textbook", "--json"]].concat())?;
    let document: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!((code, &document["verdict"], &document["kernel"]), (Some(1), &"violated".into(), &"textbook".into()));
    assert_eq!(document["block"], serde_json::json!([2, 1, 1]));
    let steps = document["steps"].as_array().ok_or("there are steps")?;
    assert!(steps.iter().any(|step| step["does"] == "writes 1 to counter"), "{out}");
    assert_eq!(document["advice"]["fixes"][1]["at"], "spin_lock.cu:15:5", "{out}");
    let without = [&LAUNCH[..], &["--entry", "textbook", "--json", "--no-advice"]].concat();
    assert!(!check("spin_lock.ptx", &without)?.1.contains("advice"));
    Ok(())
}

#[test]
fn what_cannot_be_asked() -> Result {
    for (args, why) in [
        (&["--entry", "right"][..], "the number of arguments (--arg) is 0, and should be 1"),
        (&["--entry", "wrong", "--arg", "c=i32[1]:0"], "no kernel `wrong`; it has `right`, `textbook`"),
        (&["--arg", "c=i32[1]:0"], "the module has several kernels: name one of"),
        (&["--entry", "right", "--arg", "c=i32[1]:0", "--model", "vulkan"], "judged under PTX's model, not vulkan"),
        (&["--entry", "right", "--arg", "c=i32[1]:0", "--assert", "d == 1"], "`d` is none of `lock`, `c`"),
        (&["--entry", "right", "--arg", "c=i32[1]:0", "--block", "0"], "write a number from 1"),
        (&["--entry", "right", "--arg", "c=f8[1]"], "`f8` is none of u8"),
    ] {
        let (code, _, err) = check("spin_lock.ptx", args)?;
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(why), "{why} is not in\n{err}");
    }
    let (code, _, err) = check("absent.ptx", &[])?;
    assert!(code == Some(2) && err.contains("absent.ptx could not be read"), "{err}");
    Ok(())
}

/// A SPIR-V module whose two threads store to one word, atomically or not, with the comments that say how it runs.
fn spirv(store: &str, claim: &str) -> String {
    format!(
        "; @Config: 2, 1, 1\n; @Input: %out = 5\n; @Output: {claim}\nOpCapability Shader\nOpMemoryModel Logical Vulkan\n\
         OpEntryPoint GLCompute %main \"main\"\n%void = OpTypeVoid\n%f = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
         %ptr = OpTypePointer StorageBuffer %uint\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n\
         %out = OpVariable %ptr StorageBuffer\n%main = OpFunction %void None %f\n%l = OpLabel\n{store}\nOpReturn\n\
         OpFunctionEnd\n"
    )
}

/// A module of one thread, which may index its variables, store what nobody has written, or depend on its subgroup.
fn one_thread(body: &str) -> String {
    format!(
        "OpCapability Shader\nOpCapability GroupNonUniform\nOpMemoryModel Logical Vulkan\n\
         OpEntryPoint GLCompute %main \"main\" %lanes\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %lanes BuiltIn SubgroupSize\nOpDecorate %words ArrayStride 4\n\
         OpMemberDecorate %both 0 Offset 0\nOpMemberDecorate %both 1 Offset 8\n\
         %void = OpTypeVoid\n%f = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%in = OpTypePointer Input %uint\n\
         %ptr = OpTypePointer StorageBuffer %uint\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n\
         %two = OpConstant %uint 2\n%words = OpTypeArray %uint %two\n%both = OpTypeStruct %words %words\n\
         %ptrs = OpTypePointer StorageBuffer %both\n%own = OpTypePointer Function %uint\n%lanes = OpVariable %in Input\n\
         %out = OpVariable %ptr StorageBuffer\n%x = OpVariable %ptrs StorageBuffer\n\
         %main = OpFunction %void None %f\n%l = OpLabel\n%mine = OpVariable %own Function\n{body}\nOpReturn\n\
         OpFunctionEnd\n"
    )
}

/// What a verdict on a launch of a SPIR-V module must not rest on.
#[test]
fn what_spirv_leaves_open_or_undefined() -> Result {
    let folder = std::env::temp_dir().join(format!("wattle-undefined-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for (body, assertion, code, said) in [
        ("OpStore %out %one", "out == 1", 0, "holds"),
        ("OpStore %out %one", "out == 2", 1, "out = 1"),
        ("%v = OpLoad %uint %mine\nOpStore %out %v", "out == 0", 2, "out = anything"),
        ("%v = OpLoad %uint %mine\nOpStore %out %v", "out == 0 || x[0] == 7", 0, "holds"),
        ("%v = OpLoad %uint %mine\nOpStore %out %v", "out == 0 && x[0] == 6", 1, "out = anything, x[0] = 7"),
        ("%p = OpAccessChain %ptr %x %zero %one\nOpStore %p %one", "x[1] == 1", 0, "holds"),
        ("%p = OpAccessChain %ptr %x %zero %two\nOpStore %p %one", "x[2] == 1", 1, "an index beyond the parts"),
        ("%v = OpLoad %uint %lanes\nOpStore %out %v", "out == 32", 1, "subgroups of 2\n"),
        ("%v = OpLoad %uint %lanes\nOpStore %out %v", "out >= 1", 0, "subgroups of 1, 2, 4, 8, 16, 32, 64, 128\n"),
    ] {
        std::fs::write(folder.join("one.spvasm"), one_thread(body))?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        command.current_dir(&folder).args(["check", "one.spvasm", "--no-cache", "--arg", "out=u32[1]:5"]);
        let output = command.args(["--arg", "x=u32[4]:7", "--assert", assertion]).stdin(Stdio::null()).output()?;
        let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!(output.status.code(), Some(code), "{body}, {assertion}: {out}{err}");
        assert!(out.contains(said), "{body}, {assertion}: {out}");
    }
    std::fs::write(folder.join("one.spvasm"), one_thread("OpStore %out %one"))?;
    for (option, value, said) in [
        ("--block", "1", ""),
        ("--block", "2", "fixes the threads"),
        ("--arg", "x=u32[4]:7", ""),
        ("--arg", "x=u32[5]:7", ""),
        ("--arg", "x=u32[3]:7", "12 bytes are given for 16"),
        ("--arg", "out=u32[1]:5", "twice"),
        ("--arg", "main=5", "is no variable"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        let args = ["check", "one.spvasm", "--no-cache", "--arg", "out=u32[1]:5", option, value];
        let output = command.current_dir(&folder).args(args).output()?;
        let err = String::from_utf8(output.stderr)?;
        let code = if said.is_empty() { 0 } else { 2 };
        assert!(output.status.code() == Some(code) && err.contains(said), "{option} {value}: {err}");
    }
    let large =
        one_thread("OpStore %out %one").replace("%two = OpConstant %uint 2", "%two = OpConstant %uint 700000000");
    std::fs::write(folder.join("one.spvasm"), large)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    let output = command.current_dir(&folder).args(["check", "one.spvasm", "--arg", "x=u32[4]:7"]).output()?;
    let err = String::from_utf8(output.stderr)?;
    assert!(output.status.code() == Some(2) && err.contains("16 bytes are given for 2800000008"), "{err}");
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn spirv_modules_and_lists_of_them() -> Result {
    let folder = std::env::temp_dir().join(format!("wattle-modules-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let atomic = "OpAtomicStore %out %one %zero %one";
    std::fs::write(folder.join("right.spvasm"), spirv(atomic, "forall (%out == 1)"))?;
    std::fs::write(folder.join("races.spvasm"), spirv("OpStore %out %one", "forall (%out == 1)"))?;
    std::fs::write(folder.join("wrong.spvasm"), spirv(atomic, "forall (%out == 5)"))?;
    std::fs::write(folder.join("refused.spvasm"), spirv("OpNothing", "forall (%out == 5)"))?;
    let wattle = |args: &[&str]| -> Result<(Option<i32>, String, String)> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        // What a run prints does not depend on earlier ones.
        command.env("WATTLE_CACHE", "");
        let output = command.current_dir(&folder).args(args).stdin(Stdio::null()).output()?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
    };
    for (file, code, said) in [
        ("right.spvasm", 0, "holds under vulkan"),
        ("races.spvasm", 1, "data race on out: nothing orders block 0, thread 0 at races.spvasm:"),
        ("wrong.spvasm", 1, "the claim of the module's comments (@Output)"),
    ] {
        let (exit, out, err) = wattle(&["check", file])?;
        assert_eq!(exit, Some(code), "{file}: {out}{err}");
        assert!(out.contains(said), "{file}: {said} is not in\n{out}");
    }
    let (exit, _, err) = wattle(&["check", "refused.spvasm"])?;
    assert!(exit == Some(2) && err.contains("refused.spvasm:16: there is no instruction `OpNothing`"), "{err}");
    std::fs::write(
        folder.join("list.csv"),
        "path,expected\nright.spvasm,pass\nraces.spvasm,fail\nrefused.spvasm,pass\n",
    )?;
    let (exit, out, _) = wattle(&["modules", ".", "--ask", "race", "--expected", "list.csv"])?;
    assert_eq!((exit, out.lines().count(), out.lines().last()), (Some(2), 4, Some("2 passed, 1 failed")), "{out}");
    assert!(out.contains("refused.spvasm: refused: refused.spvasm:16: there is no instruction"), "{out}");
    std::fs::write(
        folder.join("list.csv"),
        "path,expected,progress\nright.spvasm,pass,qfObe\nwrong.spvasm,pass,fairUniform\n",
    )?;
    let (exit, out, _) = wattle(&["modules", ".", "--ask", "termination", "--expected", "list.csv", "--json"])?;
    let document: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!((exit, &document["passed"], &document["cases"][0]["progress"]), (Some(0), &2.into(), &"qfObe".into()));
    // PTX is not judged in lists; what is wrong beside it, and beside what is refused, decides.
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/foreign/tests/cuda/spin_lock.ptx"),
        folder.join("lock.ptx"),
    )?;
    std::fs::write(folder.join("list.csv"), "path,expected\nright.spvasm,pass\nlock.ptx,fail\n")?;
    let (exit, out, _) = wattle(&["modules", ".", "--ask", "race", "--expected", "list.csv"])?;
    assert_eq!((exit, out.lines().last()), (Some(2), Some("1 passed, 0 failed, 1 not judged")), "{out}");
    assert!(out.contains("lock.ptx: not judged: it is PTX, "), "{out}");
    let list = "path,expected\nlock.ptx,fail\nright.spvasm,fail\nrefused.spvasm,pass\n";
    std::fs::write(folder.join("list.csv"), list)?;
    let (exit, out, _) = wattle(&["modules", ".", "--ask", "race", "--expected", "list.csv", "--json"])?;
    let document: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!((exit, &document["exit_code"]), (Some(1), &1.into()), "{out}");
    assert_eq!((&document["failed"], &document["not_judged"]), (&2.into(), &1.into()), "{out}");
    assert_eq!(document["cases"][0]["answer"], "not judged", "{out}");
    std::fs::write(folder.join("list.csv"), "path,expected\nright.spvasm,fail\n")?;
    let (exit, out, _) = wattle(&["modules", ".", "--ask", "race", "--expected", "list.csv"])?;
    assert_eq!((exit, out.lines().last()), (Some(1), Some("0 passed, 1 failed")), "{out}");
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn who_is_stuck_is_shown_where_it_is_and_what_it_reads() -> Result {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stuck.ptx");
    let text = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry idle(.param .u64 p) {\nL:\n  bra L;\n}\n\
                .visible .entry takes(.param .u64 p) {\n.reg .b64 %a;\n.reg .b32 %r;\n.reg .pred %q;\nld.param.u64 %a, [p];\n\
                M:\natom.global.cas.b32 %r, [%a], 1, 2;\nsetp.ne.s32 %q, %r, 1;\n@%q bra M;\nret;\n}\n";
    std::fs::write(&file, text)?;
    let check = |entry: &str| -> Result<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        let output = command.arg("check").arg(&file).args(["--entry", entry, "--arg", "p=u32[1]:0"]).output()?;
        assert_eq!(output.status.code(), Some(1));
        Ok(String::from_utf8(output.stdout)?)
    };
    let out = check("idle")?;
    assert!(out.contains("goes round for ever at ") && out.contains("stuck.ptx:6\n"), "{out}");
    let out = check("takes")?;
    assert!(out.contains("stuck.ptx:14") && out.contains("reads 0 in p"), "{out}");
    Ok(())
}
