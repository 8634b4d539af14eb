// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "source.hpp"

#include "../common/file_source.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include <zlib.h>
#include <zstd.h>

namespace readers {

namespace {

constexpr std::size_t block = std::size_t{1} << 18;

// Packed bytes that are still to be unpacked.
class packed_block {
  public:
    explicit packed_block(raw_source raw) : raw_(std::move(raw)), buffer_(block) {}

    // False at the end of the raw source.
    bool refill() {
        if (begin_ != end_) return true;
        begin_ = 0;
        end_ = raw_(buffer_.data(), buffer_.size());
        taken_ += end_;
        return end_ > 0;
    }
    // Until there are enough bytes to detect the packing.
    void fill_head(std::size_t size) {
        while (end_ < size) {
            std::size_t const got = raw_(buffer_.data() + end_, buffer_.size() - end_);
            if (got == 0) break;
            end_ += got;
            taken_ += got;
        }
    }
    [[nodiscard]] std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
    void consume(std::size_t n) { begin_ += n; }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }

    std::size_t copy_to(char* to, std::size_t size) {
        if (begin_ == end_ && size >= block) { // bypasses the buffer
            std::size_t const got = raw_(to, size);
            taken_ += got;
            return got;
        }
        if (!refill()) return 0;
        std::size_t const n = (std::min)(size, end_ - begin_);
        std::copy_n(buffer_.data() + begin_, n, to);
        begin_ += n;
        return n;
    }

  private:
    raw_source raw_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;
    std::uint64_t taken_ = 0;
};

class plain {
  public:
    std::size_t read(packed_block& from, char* to, std::size_t size, std::string&) {
        return from.copy_to(to, size);
    }
};

class gzip_stream {
  public:
    gzip_stream() {
        constexpr int gzip_only = 15 + 16;
        if (inflateInit2(&z_, gzip_only) != Z_OK) throw std::bad_alloc();
    }
    gzip_stream(gzip_stream const&) = delete;
    gzip_stream& operator=(gzip_stream const&) = delete;
    ~gzip_stream() { inflateEnd(&z_); }

    std::size_t read(packed_block& from, char* to, std::size_t size, std::string& damage) {
        z_.next_out = reinterpret_cast<Bytef*>(to);
        z_.avail_out = static_cast<uInt>((std::min)(size, block));
        auto const wanted = z_.avail_out;
        while (z_.avail_out == wanted) {
            if (!from.refill()) {
                if (!between_members_) damage = "gzip: the file is cut off";
                break;
            }
            if (between_members_ && !begin_member(from, damage)) break;
            std::string_view const rest = from.rest();
            z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data())); // zlib does not write
            z_.avail_in = static_cast<uInt>(rest.size());
            int const result = inflate(&z_, Z_NO_FLUSH);
            from.consume(rest.size() - z_.avail_in);
            if (result == Z_STREAM_END) {
                between_members_ = true;
            } else if (result != Z_OK && result != Z_BUF_ERROR) {
                damage = std::string("gzip: ") + (z_.msg != nullptr ? z_.msg : "damaged data");
                break;
            }
        }
        return wanted - z_.avail_out;
    }

  private:
    // Zeros may follow the last member, as on tapes.
    bool begin_member(packed_block& from, std::string& damage) {
        while (members_ > 0 && from.rest().front() != '\x1F') {
            std::size_t const begin = from.rest().find_first_not_of('\0');
            if (begin == 0) {
                damage = "gzip: what follows the compressed data is something else";
                return false;
            }
            from.consume((std::min)(begin, from.rest().size()));
            if (!from.refill()) return false;
        }
        if (members_++ > 0) inflateReset(&z_);
        between_members_ = false;
        return true;
    }

    z_stream z_{};
    std::size_t members_ = 0;
    bool between_members_ = true;
};

class zstd_stream {
  public:
    zstd_stream() : z_(ZSTD_createDStream()) {
        if (z_ == nullptr) throw std::bad_alloc();
        first_step_ = step_ = ZSTD_initDStream(z_);
    }
    zstd_stream(zstd_stream const&) = delete;
    zstd_stream& operator=(zstd_stream const&) = delete;
    ~zstd_stream() { ZSTD_freeDStream(z_); }

    std::size_t read(packed_block& from, char* to, std::size_t size, std::string& damage) {
        ZSTD_outBuffer out{to, size, 0};
        while (out.pos == 0) {
            bool const more = from.refill();
            // As much at a time as it requests: on damage, everything unpacked in the same step is lost.
            std::string_view const rest = from.rest().substr(0, step_);
            ZSTD_inBuffer in{rest.data(), rest.size(), 0};
            std::size_t const result = ZSTD_decompressStream(z_, &out, &in);
            from.consume(in.pos);
            if (ZSTD_isError(result) != 0) {
                damage = std::string("zstd: ") + ZSTD_getErrorName(result);
                break;
            }
            step_ = result != 0 ? result : first_step_;
            if (more || out.pos > 0) {
                inside_frame_ = result != 0;
            } else {
                if (inside_frame_) damage = "zstd: the file is cut off";
                break;
            }
        }
        return out.pos;
    }

  private:
    ZSTD_DStream* z_;
    std::size_t first_step_ = 0, step_ = 0;
    bool inside_frame_ = false;
};

struct foreign_packing {
    std::string_view magic, program;
};
constexpr std::array<foreign_packing, 5> foreign{{
    {"BZh", "bunzip2"},
    {std::string_view("\xFD"
                      "7zXZ\0",
                      6),
     "unxz"},
    {"\x04\x22\x4D\x18", "unlz4"},
    {"LZ4Block", "Spark (spark.eventLog.compression.codec=zstd writes what can be read here)"},
    {"\x82SNAPPY", "Spark (spark.eventLog.compression.codec=zstd writes what can be read here)"},
}};

} // namespace

std::string_view unpacker_of(std::string_view head) {
    for (auto const& [magic, program] : foreign)
        if (head.starts_with(magic)) return program;
    return {};
}

packing packing_of(std::string_view head) {
    if (head.starts_with("\x1F\x8B")) return packing::gzip;
    if (head.starts_with("\x28\xB5\x2F\xFD")) return packing::zstd;
    // A skippable frame may come first.
    if (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50U &&
        head.substr(1, 3) == "\x2A\x4D\x18")
        return packing::zstd;
    return unpacker_of(head).empty() ? packing::none : packing::foreign;
}

struct unpacked_source::state {
    explicit state(raw_source raw) : packed(std::move(raw)) {}

    packed_block packed;
    bool known = false;
    std::variant<plain, gzip_stream, zstd_stream> how;
    std::string damage;
};

unpacked_source::unpacked_source(raw_source raw) : state_(std::make_unique<state>(std::move(raw))) {}
unpacked_source::unpacked_source(unpacked_source&&) noexcept = default;
unpacked_source& unpacked_source::operator=(unpacked_source&&) noexcept = default;
unpacked_source::~unpacked_source() = default;

std::size_t unpacked_source::operator()(char* to, std::size_t size) {
    state& s = *state_;
    if (!s.known) {
        constexpr std::size_t longest_magic = 8;
        s.packed.fill_head(longest_magic);
        packing const found = packing_of(s.packed.rest());
        if (found == packing::gzip) s.how.emplace<gzip_stream>();
        if (found == packing::zstd) s.how.emplace<zstd_stream>();
        s.known = true;
    }
    if (size == 0 || !s.damage.empty()) return 0;
    return std::visit([&](auto& how) { return how.read(s.packed, to, size, s.damage); }, s.how);
}

std::string const& unpacked_source::damage() const {
    return state_->damage;
}
std::uint64_t unpacked_source::packed_bytes() const {
    return state_->packed.taken();
}

raw_source open_file(std::string const& file) {
    auto const source = std::make_shared<program::file_source>(file);
    return [source](char* to, std::size_t size) { return (*source)(to, size); };
}

raw_source text_source(std::string_view text) {
    return [text](char* to, std::size_t size) mutable {
        std::size_t const n = (std::min)(size, text.size());
        std::copy_n(text.data(), n, to);
        text.remove_prefix(n);
        return n;
    };
}

} // namespace readers
