// Signatures and fixed sizes of the ZIP format's records (APPNOTE 4.3), for the reader and the
// writer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace elias::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50, kDescriptorSignature = 0x08074b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
inline constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;
inline constexpr size_t kEnd64Size = 56, kLocator64Size = 20;
inline constexpr uint32_t kIn64 = 0xffffffff;  // "see the ZIP64 record"
inline constexpr uint16_t kStored = 0, kDeflated = 8;

}  // namespace elias::zip
