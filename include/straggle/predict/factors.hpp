// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Factors that may affect the time of a task, read from the user's own records: a row of numbers per task,
/// for members of any type.
///
///     factors(numeric(&task::input), categorical(&task::job))
///
/// selects the members (or callables) that are factors; a `factor_reader` converts them to rows, and
/// remembers which category has which number.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/storable.hpp>
#include <straggle/predict/detail/category_codes.hpp>
#include <straggle/predict/similarity.hpp>
#include <straggle/record/field.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::predict {

/// An amount: any arithmetic type except `bool`, or a `std::chrono::duration` or similar type; may be
/// optional.
template <class Projection, class Record>
concept numeric_field =
    base::projection_of<Projection, Record> && base::duration_like<detail::field_value_t<Projection, Record>>;

/// A category: any `identifier`, or `bool`; may be optional.
template <class Projection, class Record>
concept categorical_field = base::projection_of<Projection, Record> &&
                            (base::identifier<detail::field_value_t<Projection, Record>> ||
                             std::same_as<detail::field_value_t<Projection, Record>, bool>);

/// An amount, made by `numeric`.
template <class Projection>
struct numeric_factor {
    Projection value;      ///< `numeric_field`
    std::string_view name; ///< for display; may be empty; the text must outlive the factor
};

/// A category, made by `categorical`.
template <class Projection>
struct categorical_factor {
    Projection value;      ///< `categorical_field`
    std::string_view name; ///< for display; may be empty; the text must outlive the factor
};

/// A factor that is an amount: closer amounts mean more similar tasks, on the scale of all remembered tasks.
/// For amounts that differ by orders of magnitude, use the logarithm: `numeric([](task const& t) { return
/// std::log1p(t.input); }, "input")`.
///
/// A `std::chrono` duration is converted to seconds. An empty optional, NaN, infinity and values beyond
/// `largest_factor` are missing.
template <class Projection>
[[nodiscard]] constexpr numeric_factor<Projection> numeric(Projection value, std::string_view name = {}) {
    return {std::move(value), name};
}

/// A factor that is a category: equal or different. An empty optional is missing.
template <class Projection>
[[nodiscard]] constexpr categorical_factor<Projection> categorical(Projection value,
                                                                   std::string_view name = {}) {
    return {std::move(value), name};
}

/// A list of factors, in order.
template <class... Factors>
struct factor_list {
    [[no_unique_address]] std::tuple<Factors...> list; ///< of `numeric_factor` and `categorical_factor`
};

/// The factors of a record.
/// @par Example
/// `factors(numeric(&task::input, "input"), categorical(&task::job, "job"))`
template <class... Factors>
[[nodiscard]] constexpr factor_list<Factors...> factors(Factors... list) {
    return {std::tuple<Factors...>(std::move(list)...)};
}

/// In a row: an unknown category. No category has this code.
inline constexpr double unknown_category = detail::unknown_category_code;

} // namespace straggle::predict

namespace straggle::inline STRAGGLE_ABI::detail {

// One factor of a record as a number. One class per kind, so that a diagnostic names the factor and what it
// lacks.
template <class Projection, class Record>
    requires predict::numeric_field<Projection, Record>
class numeric_column {
  public:
    static constexpr predict::factor_kind kind = predict::factor_kind::numeric;

    explicit numeric_column(predict::numeric_factor<Projection> const& factor) : factor_(factor) {}
    [[nodiscard]] std::string_view name() const noexcept { return factor_.name; }
    void announce(Record const&) const noexcept {}
    void withdraw() const noexcept {}
    [[nodiscard]] double settle(Record const& record) const { return look_up(record); }
    [[nodiscard]] double look_up(Record const& record) const {
        auto const& field = project(factor_.value, record);
        if (!is_present(field)) return predict::missing_factor;
        double const x = to_time(unwrap(field));
        return predict::is_factor_value(x) ? x : predict::missing_factor;
    }

  private:
    predict::numeric_factor<Projection> factor_;
};

template <class Projection, class Record>
    requires predict::categorical_field<Projection, Record>
class categorical_column {
  public:
    static constexpr predict::factor_kind kind = predict::factor_kind::categorical;
    using codes_type = category_codes<field_value_t<Projection, Record>>;

    explicit categorical_column(predict::categorical_factor<Projection> const& factor) : factor_(factor) {}
    [[nodiscard]] std::string_view name() const noexcept { return factor_.name; }
    void announce(Record const& record) {
        auto const& field = project(factor_.value, record);
        bool const known = is_present(field) && !is_unordered(unwrap(field));
        if (known) codes_.announce(unwrap(field));
        is_announced_ = known;
    }
    void withdraw() noexcept {
        if (is_announced_) codes_.withdraw();
        is_announced_ = false;
    }
    [[nodiscard]] double settle(Record const&) noexcept {
        double const code = is_announced_ ? codes_.settle() : predict::missing_factor;
        is_announced_ = false;
        return code;
    }
    [[nodiscard]] double look_up(Record const& record) const {
        auto const& field = project(factor_.value, record);
        if (!is_present(field) || is_unordered(unwrap(field))) return predict::missing_factor;
        return codes_.find(unwrap(field));
    }
    [[nodiscard]] codes_type& codes() noexcept { return codes_; }
    [[nodiscard]] codes_type const& codes() const noexcept { return codes_; }

  private:
    predict::categorical_factor<Projection> factor_;
    codes_type codes_;
    bool is_announced_ = false;
};

template <class Factor, class Record>
struct column_of;
template <class Projection, class Record>
struct column_of<predict::numeric_factor<Projection>, Record> {
    using type = numeric_column<Projection, Record>;
};
template <class Projection, class Record>
struct column_of<predict::categorical_factor<Projection>, Record> {
    using type = categorical_column<Projection, Record>;
};
template <class Factor, class Record>
using column_of_t = typename column_of<Factor, Record>::type;

template <class Factor, class Record>
inline constexpr bool reads = false;
template <class Projection, class Record>
inline constexpr bool reads<predict::numeric_factor<Projection>, Record> =
    predict::numeric_field<Projection, Record>;
template <class Projection, class Record>
inline constexpr bool reads<predict::categorical_factor<Projection>, Record> =
    predict::categorical_field<Projection, Record>;

// Whether its categories can be serialized; numbers have none.
template <class Factor, class Record>
inline constexpr bool stores = true;
template <class Projection, class Record>
inline constexpr bool stores<predict::categorical_factor<Projection>, Record> =
    std::same_as<field_value_t<Projection, Record>, bool> ||
    base::storable_identifier<field_value_t<Projection, Record>>;

template <class List>
inline constexpr bool is_factor_list = false;
template <class... Factors>
inline constexpr bool is_factor_list<predict::factor_list<Factors...>> = true;

template <class List, class Record>
inline constexpr bool list_reads = false;
template <class... Factors, class Record>
inline constexpr bool list_reads<predict::factor_list<Factors...>, Record> = (reads<Factors, Record> && ...);

// Says in one line which factor is wrong; the columns would take dozens.
template <class Factor, class Record>
consteval bool explain_factor() {
    static_assert(reads<Factor, Record>,
                  "this factor cannot be read from the record: numeric() takes a number or "
                  "a std::chrono::duration, categorical() an identifier or a bool");
    return true;
}
template <class Record, class... Factors>
consteval bool explain_factors(predict::factor_list<Factors...> const*) {
    return (explain_factor<Factors, Record>() && ...);
}

template <class List, class Record>
inline constexpr bool list_stores = false;
template <class... Factors, class Record>
inline constexpr bool list_stores<predict::factor_list<Factors...>, Record> =
    (stores<Factors, Record> && ...);

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::predict {

/// A result of `factors` with which a `Record` can be read.
template <class List, class Record>
concept factors_for = detail::is_factor_list<List> && detail::list_reads<List, Record>;

/// Converts records to rows of factors.
///
/// Each category of a factor gets a code, a whole number from 0, when it is first read; a code stays with its
/// category and is never reused. Codes of different factors are unrelated.
/// @tparam Record the user's record type
/// @tparam List a `factor_list`; a diagnostic names the factor that cannot be read
/// @par Cost
/// `read` and `look_up` O(factors), as long as categories are short; about 26 bytes plus the name per
/// category. Allocates for new categories only, and not even for those once as many have been forgotten
/// @par Guarantees
/// deterministic; strong exception guarantee: only allocation can throw
template <class Record, class List>
    requires detail::is_factor_list<List>
class factor_reader;

template <class Record, class... Factors>
class factor_reader<Record, factor_list<Factors...>> {
    using columns = std::tuple<detail::column_of_t<Factors, Record>...>;

  public:
    /// Number of factors: the length of a row.
    static constexpr std::size_t size = sizeof...(Factors);
    /// Kind of each number in a row.
    static constexpr std::array<factor_kind, size> kinds{detail::column_of_t<Factors, Record>::kind...};

    /// @param list the factors, from `factors(...)`
    /// @param memory a category absent from this many rows read is eventually forgotten, and is new when it
    /// returns; 0: never
    explicit factor_reader(factor_list<Factors...> list, std::uint64_t memory = 0)
        : columns_(std::apply([](auto&... f) { return columns(detail::column_of_t<Factors, Record>(f)...); },
                              list.list)) {
        for_each_codes([&](auto& codes) { codes.set_memory(memory); });
    }

    /// The name of a factor; empty if it has none. @pre `k < size`
    [[nodiscard]] std::string_view name(std::size_t k) const {
        STRAGGLE_EXPECTS(k < size);
        std::array<std::string_view, size> const names =
            std::apply([](auto&... c) { return std::array<std::string_view, size>{c.name()...}; }, columns_);
        return names[k];
    }

    /// Reads a record; remembers new categories.
    /// @param record the record
    /// @param row overwritten: amounts, codes, and `missing_factor` for unknown values
    /// @pre `row.size() == size`
    void read(Record const& record, std::span<double> row) {
        STRAGGLE_EXPECTS(row.size() == size);
        {
            all_or_none categories{columns_, false};
            std::apply([&](auto&... c) { (c.announce(record), ...); }, columns_);
            categories.announced = true;
        }
        std::size_t k = 0;
        std::apply([&](auto&... c) { ((row[k++] = c.settle(record)), ...); }, columns_);
    }

    /// Reads a record without changing anything: a category that was never read (or was forgotten) becomes
    /// `unknown_category`, which is no category's code.
    /// @pre `row.size() == size`
    void look_up(Record const& record, std::span<double> row) const {
        STRAGGLE_EXPECTS(row.size() == size);
        std::size_t k = 0;
        std::apply([&](auto&... c) { ((row[k++] = c.look_up(record)), ...); }, columns_);
    }

    /// The code of a category of factor `K`, or `unknown_category`.
    template <std::size_t K, class Category>
    [[nodiscard]] double code(Category const& category) const
        requires(kinds[K] == factor_kind::categorical)
    {
        return std::get<K>(columns_).codes().find(category);
    }

    /// How many rows ago a category of factor `K` was last read, 1 for the last row; 0 if not remembered.
    /// Rows without a category of this factor do not count.
    template <std::size_t K, class Category>
    [[nodiscard]] std::uint64_t rows_since(Category const& category) const
        requires(kinds[K] == factor_kind::categorical)
    {
        return std::get<K>(columns_).codes().age(category);
    }

    /// Number of remembered categories, over all factors.
    [[nodiscard]] std::size_t categories() const noexcept {
        std::size_t sum = 0;
        for_each_codes([&](auto const& codes) { sum += codes.size(); });
        return sum;
    }

    /// Forgets all categories.
    void clear() noexcept {
        for_each_codes([](auto& codes) { codes.clear(); });
    }

    /// Appends the categories and their codes.
    void write(byte_writer& out) const
        requires detail::list_stores<factor_list<Factors...>, Record>
    {
        for (factor_kind const kind : kinds) out.u8(static_cast<std::uint8_t>(kind));
        for_each_codes([&](auto const& codes) { codes.write(out); });
    }
    /// Replaces the categories with those that `write` appended.
    /// @return `status::ok`, or an error with nothing changed: `wrong_kind` for factors of other kinds or
    /// categories of another form, or the status of the reader
    status restore(byte_reader& in)
        requires detail::list_stores<factor_list<Factors...>, Record>
    {
        for (factor_kind const kind : kinds)
            in.expect(in.u8() == static_cast<std::uint8_t>(kind), status::wrong_kind);
        factor_reader read = *this;
        read.for_each_codes([&](auto& codes) { codes.read(in); });
        if (in.ok()) *this = std::move(read);
        return in.reason();
    }

  private:
    // Retracts new categories unless all were announced.
    struct all_or_none {
        columns& of;
        bool announced;
        ~all_or_none() {
            if (!announced) std::apply([](auto&... c) { (c.withdraw(), ...); }, of);
        }
    };

    template <class Columns, class F>
    static void visit(Columns& all, F& f) {
        auto const one = [&](auto& column) {
            if constexpr (requires { column.codes(); }) f(column.codes());
        };
        std::apply([&](auto&... c) { (one(c), ...); }, all);
    }
    template <class F>
    void for_each_codes(F f) {
        visit(columns_, f);
    }
    template <class F>
    void for_each_codes(F f) const {
        visit(columns_, f);
    }

    columns columns_;
};

/// A reader whose type is deduced from the factors.
/// @par Example
/// `auto reader = factor_reader_of<task>(factors(numeric(&task::input)));`
template <class Record, class List>
    requires factors_for<List, Record>
[[nodiscard]] auto factor_reader_of(List list, std::uint64_t memory = 0) {
    return factor_reader<Record, List>(std::move(list), memory);
}
/// Not a valid call: makes the compiler say which factor does not fit.
template <class Record, class List>
    requires(detail::is_factor_list<List> && !factors_for<List, Record>)
auto factor_reader_of(List const&, std::uint64_t = 0) {
    return detail::explain_factors<Record>(static_cast<List const*>(nullptr));
}

} // namespace straggle::predict
