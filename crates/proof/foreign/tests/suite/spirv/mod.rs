//! SPIR-V modules of our own, each feature in a small one: what they compute, their races, and whether their threads end.

mod advice;
mod blocks;
mod claims;
mod glsl;
mod groups;
mod instances;
mod meaning;
mod mutated;
mod numbers;
mod opencl;
mod promises;
mod public;
mod refused;
mod sharing;
mod variables;

use wattle_foreign::Options;
use wattle_foreign::spirv::{self, Answer, Header, Question};

/// What the modules here have in common: types, constants named after their values, buffers `%out` and `%data`, a
/// workgroup's `%shared`, and the number of the thread.
const DECLARED: &str = "
OpEntryPoint GLCompute %main \"main\"
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %words ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 1
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v2uint = OpTypeVector %uint 2
%v3uint = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%in3 = OpTypePointer Input %v3uint
%buffer = OpTypePointer StorageBuffer %block
%word = OpTypePointer StorageBuffer %uint
%wgword = OpTypePointer Workgroup %uint
%local = OpTypePointer Function %uint
%function = OpTypeFunction %void
%0 = OpConstant %uint 0
%1 = OpConstant %uint 1
%2 = OpConstant %uint 2
%3 = OpConstant %uint 3
%4 = OpConstant %uint 4
%5 = OpConstant %uint 5
%7 = OpConstant %uint 7
%66 = OpConstant %uint 66
%68 = OpConstant %uint 68
%72 = OpConstant %uint 72
%264 = OpConstant %uint 264
%m7 = OpConstant %int -7
%i2 = OpConstant %int 2
%true = OpConstantTrue %bool
%gid = OpVariable %in3 Input
%out = OpVariable %buffer StorageBuffer
%data = OpVariable %buffer StorageBuffer
%shared = OpVariable %wgword Workgroup
";

/// A module with the comments at its head, and the body of its only function.
pub fn module(head: &str, model: &str, body: &str) -> String {
    format!(
        "{head}\nOpCapability Shader\nOpMemoryModel Logical {model}\n{DECLARED}%main = OpFunction %void None %function\n\
         %entry = OpLabel\n%thread3 = OpLoad %v3uint %gid\n%thread = OpCompositeExtract %uint %thread3 0\n\
         %out0 = OpAccessChain %word %out %0 %0\n%data0 = OpAccessChain %word %data %0 %0\n\
         %data1 = OpAccessChain %word %data %0 %1\n{body}\nOpFunctionEnd\n"
    )
}

/// The comments of a module with 4 words in each buffer.
pub fn head(config: &str) -> String {
    format!("; @Config: {config}\n; @Input: %out = {{{{0, 0, 0, 0}}}}, %data = {{{{0, 0, 0, 0}}}}")
}

/// The answer to a question about a text.
fn ask(text: &str, question: &str) -> Answer {
    let module = spirv::read("own.spvasm", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let header = Header::read(text).expect("the comments are right");
    let question = match question {
        "assertion" => Question::Assertion(header.claim.clone().expect("a claim")),
        "race" => Question::Race,
        schedule => Question::Termination(schedule.parse().expect("a schedule")),
    };
    let world = spirv::launch("own.spvasm", &module, None, &header.setting());
    let mut world = world.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (answer, _) = spirv::answer(&mut world, &question, &Options::default()).expect("it is supported");
    answer
}

/// Whether a thread's body has a race.
fn races(config: &str, body: &str) -> Answer {
    ask(&module(&head(config), "Vulkan", body), "race")
}
