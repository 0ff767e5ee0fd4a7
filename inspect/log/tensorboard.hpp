// TensorBoard event files: a sequence of records with length, data and checksums. The data are protocol buffers of type
// tensorflow.Event.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string>
#include <string_view>

namespace xtape {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), continued from `crc`.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

/// One record: the length in 8 bytes, its checksum, the data, their checksum, all little-endian. The checksums are
/// masked: rotated by 15 bits, plus a constant.
std::string tensorboard_record(std::string_view data);

/// The first record of an event file. `seconds` since 1970.
std::string tensorboard_header(double seconds);

/// Scalars and histograms of one step as one record. Parameters are grouped into at most 32 layers, which keeps the
/// number of tags below 200. The histograms are of log2 |gradient|, without zeros, NaN and infinities.
std::string tensorboard_step(const StepRecord& record, double seconds);

/// The number of bytes of an event file that hold the header and the steps before `step`. Counting ends at an
/// incomplete or damaged record.
std::size_t tensorboard_size_before(index_t step, std::string_view content);

/// The name of a new event file: events.out.tfevents.<seconds>.<host>.<process>.
std::string tensorboard_file_name();

}  // namespace xtape
