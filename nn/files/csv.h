#pragma once

#include "tensor/tensor.h"

/// Numbers from CSV files.
namespace heed {

/// Options of read_csv.
struct CsvOptions {
  /// Which columns to read, and in which order: each by its name or its number from 1. "" is the first column
  /// that no other entry names. An empty list is all columns.
  std::vector<std::string> columns = {};
  bool skip_bad = false;  ///< skips and counts rows that cannot be used, instead of throwing
  DType dtype = float32;  ///< of the values, float32 or float64
};

/// The numbers of a CSV file.
struct CsvTable {
  std::vector<std::string> names;  ///< of the columns: from the header, or "column 1" and so on
  Tensor values;                   ///< [rows, columns]
  int64_t skipped = 0;             ///< number of rows that were skipped
};

/// Reads columns of numbers from a CSV file in UTF-8: fields separated by commas, or by semicolons or tabs if
/// the first line contains no comma; quoted fields as in RFC 4180; lines that end in LF or CRLF; blank lines
/// are ignored. A first line without numbers, or that contains the text of a requested name, is a header,
/// unless all its fields are empty. Columns that are not read may contain anything. A number too small for
/// the dtype is 0.
///
/// Throws if the file or a column does not exist, or if a quoted field is not closed; the message has file
/// and line. Rows are bad if they have more or fewer fields than the first line, or a field that is empty,
/// not a number, not finite or too large for the dtype: throws all of them in one table (BadRows), unless
/// they are skipped.
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace heed
