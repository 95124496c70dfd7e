//! The ranges of global memory: each variable and each buffer has addresses of its own, far from the others.

use wattle_modules::spirv::Parts;

use crate::launch::Buffer;
use crate::number::Number;
use crate::wrong::Wrong;

/// The distance of the ranges in global memory.
const RANGE: u64 = 1 << 40;

/// A range of global memory.
#[derive(Debug)]
pub struct Range {
    /// The name of the variable or of the argument.
    pub name: String,
    /// The type of its items, if it is known.
    pub item: Option<Number>,
    /// The size in bytes.
    pub bytes: u64,
    /// The first contents, byte by byte; `None` where nobody has written one.
    pub(crate) initial: Vec<Option<u8>>,
    /// The parts of the memory as the source writes them, where they are known.
    pub(crate) parts: Option<Parts>,
    /// A second name of the memory: that of a block's only member.
    pub(crate) member: Option<String>,
}

impl Range {
    /// The workspace of a cooperative launch: its size and the word of its barrier, which is zero before the launch.
    pub(crate) fn of_workspace() -> Range {
        let bytes = 8;
        let (name, initial) = ("the workspace of the grid".to_owned(), vec![Some(0); bytes as usize]);
        Range { name, item: Some(Number::U32), bytes, initial, parts: None, member: None }
    }

    /// The type of the number at an offset, where that is known.
    pub(crate) fn number_at(&self, offset: u64) -> Option<Number> {
        let way = self.parts.as_ref().and_then(|parts| parts.way(offset));
        way.and_then(|(_, scalar)| Some(self.shown_as(Number::of_scalar(scalar)?)))
            .or_else(|| self.item.filter(|item| offset.is_multiple_of(u64::from(item.size()))))
    }

    /// The type that a number of this type is looked at as: the one that its buffer is given as, where the module does
    /// not say that integers have a sign, and where floats stand for integers or these for floats, all of one type.
    fn shown_as(&self, own: Number) -> Number {
        let is_mixed = self.parts.as_ref().is_some_and(|parts| parts.scalar().is_none());
        let decides = |item: &Number| match own.is_float() || item.is_float() {
            true => !is_mixed,
            false => !own.is_signed(),
        };
        self.item.filter(|item| item.size() == own.size()).filter(decides).unwrap_or(own)
    }

    /// The offset and the type of the number at the end of a way, `[2].x`.
    pub(crate) fn at(&self, way: &str) -> Option<(u64, Number)> {
        let parts = self.parts.as_ref()?;
        // A block goes by its only member's name, or without.
        let within = || way.strip_prefix('.')?.strip_prefix(self.member.as_deref()?);
        let (offset, scalar) = parts.at(way).or_else(|| parts.at(within()?))?;
        Some((offset, self.shown_as(Number::of_scalar(scalar)?)))
    }

    /// What to write for its last number, where that is not one of an array.
    pub(crate) fn example(&self) -> String {
        let parts = self.parts.as_ref().filter(|parts| !matches!(parts, Parts::Scalar(_)));
        let ends = (1..=self.bytes.min(64)).filter_map(|back| parts?.way(self.bytes - back));
        let way = ends.into_iter().next();
        way.map_or_else(String::new, |(way, _)| format!(": write `{}{way}`", self.name))
    }

    /// The name of the place that many bytes behind its begin: `data[3]`.
    pub(crate) fn name_of(&self, offset: u64) -> String {
        if let Some((way, _)) = self.parts.as_ref().and_then(|parts| parts.way(offset)) {
            return format!("{}{way}", self.name);
        }
        match self.item.map(|item| u64::from(item.size())) {
            Some(size) if self.bytes == size => self.name.clone(),
            Some(size) if offset.is_multiple_of(size) => format!("{}[{}]", self.name, offset / size),
            Some(_) | None => format!("{}, byte {offset}", self.name),
        }
    }
}

/// The range whose address is nearest, and the offset in it: a little before a range is its own, not the end of the one
/// in front.
pub(crate) fn nearest(ranges: &[Range], address: u64, bytes: u64) -> Result<(u32, u64), Wrong> {
    let range = nearest_to(address).and_then(|number| Some((number, ranges.get(number)?)));
    let (number, range) = range.ok_or(Wrong::Wild(address))?;
    let offset = address.wrapping_sub(address_of(number)) as i64;
    match u64::try_from(offset) {
        Ok(inside) if inside + bytes <= range.bytes => Ok((number as u32, inside)),
        _ => Err(Wrong::Beyond { name: range.name.clone(), bytes: range.bytes, offset }),
    }
}

/// The number that the range nearest to an address has, if it is there.
pub(crate) fn nearest_to(address: u64) -> Option<usize> {
    (address.saturating_add(RANGE / 2) / RANGE).checked_sub(1).map(|number| number as usize)
}

/// The address of a range.
pub(crate) fn address_of(number: usize) -> u64 {
    (number as u64 + 1) * RANGE
}

/// The address of a buffer, which becomes a range.
pub(crate) fn range_of(name: &str, buffer: &Buffer, ranges: &mut Vec<Range>) -> Result<u64, String> {
    let Buffer { item, len, contents } = buffer;
    if ranges.iter().any(|range| range.name == name) {
        return Err(format!("there are two buffers with the name `{name}`"));
    }
    let size = usize::from(item.size());
    let bytes_of = |items: &Vec<u64>| {
        items.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).map(Some).collect()
    };
    let bytes = len * size as u64;
    let initial = contents.as_ref().map_or_else(|| vec![None; bytes as usize], bytes_of);
    ranges.push(Range { name: name.to_owned(), item: Some(*item), bytes, initial, parts: None, member: None });
    Ok(address_of(ranges.len() - 1))
}
