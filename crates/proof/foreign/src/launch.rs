//! What is run of a module: the shape of a launch, and its arguments.

use thiserror::Error;

use crate::number::Number;

/// The shape and the arguments of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The numbers of blocks, in x, y and z.
    pub grid: [u32; 3],
    /// The numbers of threads in a block, in x, y and z.
    pub block: [u32; 3],
    /// The arguments, in the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
    /// The size in bytes of the shared memory that is sized at launch.
    pub dynamic_shared: u64,
}

impl Launch {
    /// The number of threads in a block.
    pub fn block_len(&self) -> u64 {
        extent(&self.block)
    }

    /// The number of blocks in the launch.
    pub fn blocks(&self) -> u64 {
        extent(&self.grid)
    }
}

/// How many items an extent has, of which there may be more than fit.
fn extent(of: &[u32; 3]) -> u64 {
    of.iter().fold(1, |all: u64, &items| all.saturating_mul(items.into()))
}

/// An argument: the name that assertions use, and the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name by which assertions call the argument.
    pub name: String,
    /// The value that the kernel gets.
    pub value: Given,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A number whose type is written.
    Typed(Number, u64),
    /// A number whose type is the parameter's, or a place in a buffer that is given before: the text of it.
    Untyped(String),
    /// A pointer to a buffer of its own.
    Buffer(Buffer),
    /// A struct: its members, one behind the other, each aligned to its size.
    Struct(Vec<Argument>),
}

/// A buffer in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The type of its items.
    pub item: Number,
    /// The number of its items.
    pub len: u64,
    /// The bits of the items before the launch; `None` if nobody has written the buffer.
    pub contents: Option<Vec<u64>>,
}

/// An argument that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{text}` is no argument: {why}. Write a buffer as NAME=f32[8]:1.0 (each item), NAME=u32[3]:1,2,3 or NAME=u32[8] \
     (never written), of PTX the same buffer again as NAME=OTHER or \
     NAME=OTHER+4 (behind 4 items), a number as NAME=8 or NAME=f32:0.5, and a struct as NAME={{x=f32[8]:1.0; n=i32:8}}"
)]
pub struct WrongArgument {
    text: String,
    why: String,
}

/// The most items of a buffer: a proof looks at single cells.
const MOST_ITEMS: u64 = 1 << 20;

impl std::str::FromStr for Argument {
    type Err = WrongArgument;

    /// Reads `NAME=TYPE[LEN]:CONTENTS`, `NAME=TYPE:NUMBER`, `NAME=NUMBER` or `NAME={MEMBER; …}`, whose members are
    /// arguments.
    fn from_str(text: &str) -> Result<Argument, WrongArgument> {
        let wrong = |why: String| WrongArgument { text: text.to_owned(), why };
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("it has no `=`".into()))?;
        if name.is_empty() || !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            let whole = name.split_once('.').filter(|(block, _)| !block.is_empty());
            let hint = whole.map(|(block, _)| format!(": a block is given whole, as `{block}`")).unwrap_or_default();
            return Err(wrong(format!("`{name}` is no name{hint}")));
        }
        let value = given(value).map_err(wrong)?;
        Ok(Argument { name: name.to_owned(), value })
    }
}

/// Reads the value of an argument.
pub(crate) fn given(text: &str) -> Result<Given, String> {
    if let Some(members) = text.strip_prefix('{') {
        let members = members.strip_suffix('}').ok_or("its `}` is missing")?;
        let one = |member: &str| member.trim().parse().map_err(|error: WrongArgument| error.why);
        return Ok(Given::Struct(members_of(members).into_iter().map(one).collect::<Result<_, String>>()?));
    }
    let (head, contents) = match text.split_once(':') {
        Some((head, contents)) => (head, Some(contents)),
        None => (text, None),
    };
    if let Some((item, len)) = head.split_once('[') {
        let item = item_type(item)?;
        let len = len.strip_suffix(']').and_then(|len| len.parse().ok()).filter(|len| (1..=MOST_ITEMS).contains(len));
        let len = len.ok_or_else(|| format!("a length is a number from 1 to {MOST_ITEMS} in brackets"))?;
        let contents = contents.map(|contents| filled(item, len, contents)).transpose()?;
        return Ok(Given::Buffer(Buffer { item, len, contents }));
    }
    match contents {
        Some(number) => {
            let ty = item_type(head)?;
            Ok(Given::Typed(ty, bits(ty, number)?))
        }
        None => Ok(Given::Untyped(text.to_owned())),
    }
}

/// The members of a struct, which `;` stands between, as it does between those of a struct in it.
fn members_of(text: &str) -> Vec<&str> {
    let (mut members, mut begin, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => {
                members.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    members.push(&text[begin..]);
    members.retain(|member| !member.trim().is_empty());
    members
}

/// The bytes of a struct and its alignment; `pointer` gives the address of a buffer.
pub(crate) fn struct_bytes(
    members: &[Argument],
    pointer: &mut dyn FnMut(&str, &Buffer) -> Result<u64, String>,
) -> Result<(Vec<u8>, usize), String> {
    let (mut all, mut widest) = (Vec::new(), 1);
    for Argument { name, value } in members {
        let (bytes, align) = match value {
            Given::Typed(ty, value) => {
                let size = usize::from(ty.size());
                (value.to_le_bytes()[..size].to_vec(), size)
            }
            Given::Buffer(buffer) => (pointer(name, buffer)?.to_le_bytes().to_vec(), 8),
            Given::Struct(members) => struct_bytes(members, pointer)?,
            Given::Untyped(number) => {
                return Err(format!(
                    "the member `{name}` needs its type: write `{name}=i32:{number}` or `{name}=f32:{number}`"
                ));
            }
        };
        all.resize(all.len().next_multiple_of(align), 0);
        all.extend(bytes);
        widest = widest.max(align);
    }
    all.resize(all.len().next_multiple_of(widest), 0);
    Ok((all, widest))
}

/// The type of that name.
fn item_type(name: &str) -> Result<Number, String> {
    Number::ALL.into_iter().find(|ty| ty.name() == name).ok_or_else(|| {
        let known: Vec<_> = Number::ALL.iter().map(|ty| ty.name()).collect();
        format!("`{name}` is none of {}", known.join(", "))
    })
}

/// The contents of a buffer: one number for all items, or as many as there are.
fn filled(item: Number, len: u64, text: &str) -> Result<Vec<u64>, String> {
    let values = text.split(',').map(|value| bits(item, value.trim())).collect::<Result<Vec<_>, _>>()?;
    match values.as_slice() {
        [value] => Ok(vec![*value; len as usize]),
        _ if values.len() as u64 == len => Ok(values),
        _ => Err(format!("{} numbers for {len} items", values.len())),
    }
}

/// The bits of a number of that type.
pub(crate) fn bits(ty: Number, text: &str) -> Result<u64, String> {
    ty.parse(text).ok_or_else(|| format!("`{text}` is no {}", ty.name()))
}
