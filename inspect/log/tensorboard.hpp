// Event files that TensorBoard reads: records of a length, data and their checksums; the data are protocol buffers of
// the type tensorflow.Event.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string>
#include <string_view>

namespace xtape {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), continued from `crc`.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

/// One record: the length in 8 bytes, its checksum, the data, their checksum; checksums rotated by 15 bits and shifted
/// by a constant, all in little-endian order.
std::string tensorboard_record(std::string_view data);

/// What an event file starts with. `seconds` since 1970.
std::string tensorboard_header(double seconds);

/// Scalars and histograms of one step as one record. Parameters are joined into at most 32 layers, so that there are
/// under 200 tags. Histograms are of log2 of the gradients' magnitudes, zeros and what is not finite left out.
std::string tensorboard_step(const StepRecord& record, double seconds);

/// How many bytes of such a file belong to the header and to steps before `step`; a record that is cut short or damaged
/// does not, nor what follows it.
std::size_t tensorboard_size_before(index_t step, std::string_view content);

/// Name of the event file of a run that starts now: events.out.tfevents.<seconds>.<host>.<process>.
std::string tensorboard_file_name();

}  // namespace xtape
