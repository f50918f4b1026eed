// Grouping by key on the CPU: a radix sort of pairs (key, position) by one digit of the key after
// the other, the lowest first.
//
// A pass counts the digits of each chunk of pairs; where a chunk's pairs of a digit go is then the
// number of pairs with a lower digit, or with the same digit in an earlier chunk. So chunks move
// their pairs independently of each other and every pass keeps the order of equals.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ops/cpu/chunks.h"
#include "ops/lookup/key_groups.h"

namespace elias::cpu {
namespace {

struct Pair {
  int32_t key;
  int32_t position;
};

// Pairs a chunk: at most 64 chunks, which bounds the memory of their counts.
constexpr size_t pairs_per_chunk(size_t size) { return std::max<size_t>(65536, (size + 63) / 64); }

// A digit of keys: `bits` bits from `shift` on.
struct Digit {
  int shift;
  int bits;

  size_t values() const { return size_t{1} << bits; }
  size_t of(int32_t key) const { return (static_cast<uint32_t>(key) >> shift) & (values() - 1); }
};

// The digits of `size` keys below `bound`: as few as possible, of at most 11 bits, whose counts and
// places to write to fit the caches; or one of up to 16 if its values are met often, as labels are
// that many shortlists name in rising order: one pass less outweighs the misses.
std::vector<Digit> digits_of(int64_t bound, size_t size) {
  constexpr size_t kMeetings = 16;
  const auto highest = static_cast<uint64_t>(std::max<int64_t>(1, bound - 1));
  const int bits = static_cast<int>(std::bit_width(highest));
  const bool one_pass = bits <= 16 && (size >> bits) >= kMeetings;
  const int passes = one_pass ? 1 : (bits + 10) / 11;
  const int each = (bits + passes - 1) / passes;
  std::vector<Digit> digits;
  for (int shift = 0; shift < bits; shift += each) {
    digits.push_back({shift, std::min(each, bits - shift)});
  }
  return digits;
}

// Turns counts[chunk * digits + digit] into the places of their first pairs; returns the total.
size_t count_to_places(std::vector<uint32_t>& counts, size_t digits) {
  uint32_t total = 0;
  for (size_t digit = 0; digit < digits; ++digit) {
    for (size_t i = digit; i < counts.size(); i += digits) {
      total += std::exchange(counts[i], total);
    }
  }
  return total;
}

// Sorts by one digit what for_pairs(begin, end, use) shows of [0, size), and returns the number of
// pairs.
template <typename ForPairs>
size_t sort_by(ThreadPool& pool, Digit digit, size_t size, const ForPairs& for_pairs,
               Pair* sorted) {
  const size_t grain = pairs_per_chunk(size);
  std::vector<uint32_t> places(chunk_count(size, grain) * digit.values());
  pool.for_chunks(size, grain, [&](size_t chunk, size_t begin, size_t end) {
    uint32_t* own = places.data() + chunk * digit.values();
    for_pairs(begin, end, [&](Pair pair) { ++own[digit.of(pair.key)]; });
  });
  const size_t pairs = count_to_places(places, digit.values());
  pool.for_chunks(size, grain, [&](size_t chunk, size_t begin, size_t end) {
    uint32_t* own = places.data() + chunk * digit.values();
    for_pairs(begin, end, [&](Pair pair) { sorted[own[digit.of(pair.key)]++] = pair; });
  });
  return pairs;
}

// The groups of sorted pairs: a chunk counts the groups that begin in it, then writes them.
KeyGroups groups_of(ThreadPool& pool, const Pair* pairs, size_t size) {
  const auto begins_group = [&](size_t i) { return i == 0 || pairs[i].key != pairs[i - 1].key; };
  const size_t grain = pairs_per_chunk(size);
  std::vector<uint32_t> places(chunk_count(size, grain));
  pool.for_chunks(size, grain, [&](size_t chunk, size_t begin, size_t end) {
    uint32_t count = 0;
    for (size_t i = begin; i < end; ++i) count += begins_group(i) ? 1 : 0;
    places[chunk] = count;
  });
  const auto R = static_cast<int64_t>(count_to_places(places, 1));
  KeyGroups groups{Tensor({R}, DType::kInt32), Tensor({R + 1}, DType::kInt32),
                   Tensor({static_cast<int64_t>(size)}, DType::kInt32)};
  const auto keys = groups.keys.span<int32_t>();
  const auto offsets = groups.offsets.span<int32_t>();
  const auto positions = groups.positions.span<int32_t>();
  pool.for_chunks(size, grain, [&](size_t chunk, size_t begin, size_t end) {
    size_t group = places[chunk];
    for (size_t i = begin; i < end; ++i) {
      positions[i] = pairs[i].position;
      if (!begins_group(i)) continue;
      keys[group] = pairs[i].key;
      offsets[group++] = static_cast<int32_t>(i);
    }
  });
  offsets[R] = static_cast<int32_t>(size);
  return groups;
}

}  // namespace

KeyGroups group_by_key(const Context& context, ConstTensorView keys, int64_t bound) {
  const auto given = keys.span<int32_t>();
  const std::vector<Digit> digits = digits_of(bound, given.size());
  // Not set to zero: the sort's own writes are the first to touch the memory, on all threads.
  auto pairs = std::make_unique_for_overwrite<Pair[]>(given.size());
  size_t size = sort_by(
      context.pool(), digits[0], given.size(),
      [&](size_t begin, size_t end, const auto& use) {
        for (size_t i = begin; i < end; ++i) {
          if (given[i] >= 0) use(Pair{given[i], static_cast<int32_t>(i)});
        }
      },
      pairs.get());
  auto sorted = std::make_unique_for_overwrite<Pair[]>(digits.size() > 1 ? size : 0);
  for (size_t pass = 1; pass < digits.size(); ++pass) {
    sort_by(
        context.pool(), digits[pass], size,
        [&](size_t begin, size_t end, const auto& use) {
          for (size_t i = begin; i < end; ++i) use(pairs[i]);
        },
        sorted.get());
    std::swap(pairs, sorted);
  }
  return groups_of(context.pool(), pairs.get(), size);
}

void max_by_key(const Context& context, const KeyGroups& groups, ConstTensorView values,
                TensorView maxima, TensorView positions) {
  const float* value = values.data<float>();
  const auto offsets = groups.offsets.span<int32_t>();
  const auto members = groups.positions.span<int32_t>();
  const size_t per_group = members.size() / std::max<size_t>(1, groups.size());
  context.pool().for_chunks(
      groups.size(), rows_per_chunk(1 + per_group), [&](size_t, size_t begin, size_t end) {
        for (size_t r = begin; r < end; ++r) {
          int32_t best = members[offsets[r]];
          for (int32_t e = offsets[r] + 1; e < offsets[r + 1]; ++e) {
            const float next = value[members[e]];
            if (next > value[best] || (std::isnan(value[best]) && !std::isnan(next))) {
              best = members[e];
            }
          }
          maxima.data<float>()[r] = value[best];
          positions.data<int32_t>()[r] = best;
        }
      });
}

}  // namespace elias::cpu
