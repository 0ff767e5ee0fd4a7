// The folder of a new run: creating it and locking it.
#pragma once

#include <string>

namespace xtape {

/// Creates the directory of a run and returns its path: `out`, or runs/<program>-<UTC time> if `out` is empty. Throws
/// FileError if `out` exists and is not an empty directory, or cannot be created. A directory counts as empty if it
/// holds only the files of a run that was killed before it wrote run.json.
std::string make_run_folder(const std::string& out, const std::string& program);

/// Removes the temporary files of write_file that a killed process left in a run's folder, for run.json, the weights
/// and all that is in the folders of the run. Only the process that holds the lock may call it.
void remove_leftovers(const std::string& directory);

/// Locks the directory of a run against other processes and other logs of this process. The system releases the lock
/// when the process ends.
class FolderLock {
 public:
  /// Throws FileError, which names the other process, if the directory is locked.
  explicit FolderLock(const std::string& directory);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace xtape
