// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One list of fields per class, from which it is written and read: what is written in one order cannot be
/// read in another.
///
///     struct spread {
///         double mean = 0, variance = 0;
///
///         template <class Self, class Archive>
///         static void fields(Self& self, Archive& a) {
///             a(self.mean, self.variance);
///             a.expect(is_finite(self.mean) && self.variance >= 0);
///         }
///     };
///
///     base::write_fields(out, spread);
///     base::read_fields(in, spread);
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::base {

/// Appends the fields of a class to a payload.
/// @par Cost
/// see `byte_writer`
class writing_archive {
  public:
    /// Whether fields are assigned.
    static constexpr bool reads = false;

    /// @param out must outlive this object
    explicit writing_archive(byte_writer& out) noexcept : out_(&out) {}

    /// Appends fields: a number or a flag at its fixed width (a `float` as a `double`, finite), an array item
    /// by item, a class by its `fields`.
    template <class... Fields>
    void operator()(Fields const&... fields) {
        (put(fields), ...);
    }
    /// Appends a number in as few bytes as possible.
    void varint(std::uint64_t number) { out_->varint(number); }
    /// Appends a value of an enumeration with `values` values, counted from 0, in a byte.
    template <class Enum>
        requires std::is_enum_v<Enum>
    void code(Enum value, std::size_t) {
        out_->u8(static_cast<std::uint8_t>(value));
    }
    /// Appends the number of items that follow.
    /// @param least bytes of a written item; @pre at least 1
    void count(std::size_t items, std::size_t least) {
        STRAGGLE_EXPECTS(least >= 1);
        out_->count(items);
    }
    /// Appends the number of items, then each of them; `least` as for `count`.
    template <class T>
    void items(std::vector<T> const& items, std::size_t least) {
        count(items.size(), least);
        for (T const& item : items) put(item);
    }
    /// Always true: see the reader.
    [[nodiscard]] static constexpr bool ok() noexcept { return true; }
    /// Does nothing: values in memory are valid.
    static constexpr bool expect(bool) noexcept { return true; }
    /// For anything that is not a plain field.
    [[nodiscard]] byte_writer& bytes() const noexcept { return *out_; }

  private:
    void put(double x) { out_->real(x); }
    void put(float x) { out_->real(static_cast<double>(x)); }
    void put(bool x) { out_->flag(x); }
    void put(std::uint8_t x) { out_->u8(x); }
    void put(std::uint32_t x) { out_->u32(x); }
    void put(std::uint64_t x) { out_->u64(x); }
    void put(std::int64_t x) { out_->i64(x); }
    template <class T, std::size_t N>
    void put(std::array<T, N> const& items) {
        for (T const& item : items) put(item);
    }
    template <class T>
        requires std::is_class_v<T>
    void put(T const& object) {
        T::fields(object, *this);
    }

    byte_writer* out_;
};

/// Reads what a `writing_archive` appended. Failures stick, as in `byte_reader`.
/// @par Cost
/// see `byte_reader`
class reading_archive {
  public:
    /// Whether fields are assigned.
    static constexpr bool reads = true;

    /// @param in must outlive this object
    explicit reading_archive(byte_reader& in) noexcept : in_(&in) {}

    /// Reads fields.
    template <class... Fields>
    void operator()(Fields&... fields) {
        (get(fields), ...);
    }
    /// Reads a number that `varint` wrote; fails with `status::corrupt` if the type cannot hold it.
    template <std::unsigned_integral Number>
    void varint(Number& number) {
        std::uint64_t const wide = in_->varint();
        number = expect(wide <= (std::numeric_limits<Number>::max)()) ? static_cast<Number>(wide) : Number{0};
    }
    /// Reads a value that `code` wrote; fails with `status::corrupt` if there is none.
    template <class Enum>
        requires std::is_enum_v<Enum>
    void code(Enum& value, std::size_t values) {
        std::uint8_t const byte = in_->u8();
        value = static_cast<Enum>(expect(byte < values) ? byte : std::uint8_t{0});
    }
    /// Reads a number that `count` wrote; 0 if the bytes that are left cannot hold that many.
    void count(std::size_t& items, std::size_t least) { items = in_->count(least); }
    /// Whether all has been valid so far.
    [[nodiscard]] bool ok() const noexcept { return in_->ok(); }
    /// Reads items that `items` wrote. Allocates at most a fixed multiple of the bytes that are left.
    template <class T>
    void items(std::vector<T>& items, std::size_t least) {
        items.resize(in_->count(least));
        for (T& item : items) {
            if (!in_->ok()) return;
            get(item);
        }
    }
    /// Fails with `status::corrupt` if the condition on the data does not hold. Returns whether all has been
    /// valid so far.
    bool expect(bool holds) { return in_->expect(holds); }
    /// For anything that is not a plain field.
    [[nodiscard]] byte_reader& bytes() const noexcept { return *in_; }

  private:
    void get(double& x) { x = in_->real(); }
    void get(float& x) {
        constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
        double const wide = in_->real();
        bool const fits =
            wide >= -most && wide <= most && static_cast<double>(static_cast<float>(wide)) == wide;
        x = in_->expect(fits) ? static_cast<float>(wide) : 0.0f;
    }
    void get(bool& x) { x = in_->flag(); }
    void get(std::uint8_t& x) { x = in_->u8(); }
    void get(std::uint32_t& x) { x = in_->u32(); }
    void get(std::uint64_t& x) { x = in_->u64(); }
    void get(std::int64_t& x) { x = in_->i64(); }
    template <class T, std::size_t N>
    void get(std::array<T, N>& items) {
        for (T& item : items) get(item);
    }
    template <class T>
        requires std::is_class_v<T>
    void get(T& object) {
        T::fields(object, *this);
    }

    byte_reader* in_;
};

/// Appends the fields of an object.
template <class T>
void write_fields(byte_writer& out, T const& object) {
    writing_archive a(out);
    a(object);
}

/// Reads the fields of an object. If `in.ok()` is then false, the object is unusable.
template <class T>
void read_fields(byte_reader& in, T& object) {
    reading_archive a(in);
    a(object);
}

} // namespace straggle::base
