internal import CCurl
internal import CZlib

/// A streaming decoder of one content coding: zlib, brotli or zstd.
final class Codec {
    /// The bytes that one step has read and written.
    struct Step {
        var read = 0
        var written = 0
    }

    /// How far a stream has come when no input follows.
    enum End {
        /// It has ended, or never begun.
        case whole
        /// All of its data is there, but not the checksum behind it.
        case unchecked
        /// Data is missing.
        case cut
    }

    private enum Format {
        case zlib(UnsafeMutablePointer<z_stream>)
        case other(CCurl_codec)
    }

    let coding: ContentCoding
    /// Created with the first byte, which distinguishes a zlib stream from a bare one.
    private var format: Format?
    /// Whether the stream has ended: bytes after it are ignored.
    private var isOver = false
    /// Whether there were bytes behind the end.
    private var hasIgnoredBytes = false
    /// Whether a frame of zstd has ended, and no other has begun.
    private var isAtFrameEnd = false
    /// Whether the last block of a deflate stream was decoded: only its checksum can follow.
    private var hasAllData = false

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit {
        switch format {
        case .zlib(let stream):
            inflateEnd(stream)
            stream.deallocate()
        case .other(var codec): CCurl_codec_close(&codec)
        case nil: break
        }
    }

    /// Whether the library for brotli is in the process.
    static let hasBrotli = CCurl_function("BrotliDecoderDecompressStream") != nil
    /// Whether the library for zstd is in the process.
    static let hasZstandard = CCurl_function("ZSTD_decompressStream") != nil

    /// What the input so far is.
    var end: End {
        guard format != nil, !isOver, !isAtFrameEnd else { return .whole }
        return hasAllData ? .unchecked : .cut
    }

    /// Decodes as much as fits; also without input, since there may be output left.
    func run(_ input: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Step
    {
        if format == nil {
            guard let first = input.first else { return Step() }
            try open(first)
        }
        if isOver {
            // Behind bytes that are no member none follows, wherever a piece of the body begins.
            guard coding == .gzip, !hasIgnoredBytes, input.first == 0x1F, restart() else {
                hasIgnoredBytes = hasIgnoredBytes || !input.isEmpty
                return Step(read: input.count)
            }
        }
        switch format {
        case .zlib(let stream): return try inflate(stream, input, buffer)
        case .other(var codec):
            var step = Step(read: input.count, written: buffer.count)
            let result = CCurl_codec_run(
                &codec, input.baseAddress, &step.read, buffer.baseAddress, &step.written)
            guard result >= 0 else { throw failure }
            isOver = result == 1
            if step.read > 0 || step.written > 0 { isAtFrameEnd = result == 2 }
            return step
        case nil: return Step()
        }
    }

    private func open(_ first: UInt8) throws(TransportError) {
        switch coding {
        case .gzip, .deflate:
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            // The method of a zlib header is 8, and its window at most 32 KiB (RFC 1950, section 2.2).
            let isBare = first & 0x0F != 8 || first >> 4 > 7
            guard CZlib_inflateInit(stream, coding == .gzip ? 31 : isBare ? -15 : 15) == Z_OK else {
                stream.deallocate()
                throw TransportError(.unknown, "out of memory")
            }
            format = .zlib(stream)
        case .brotli, .zstd:
            var codec = CCurl_codec()
            guard CCurl_codec_open(&codec, coding == .zstd ? 1 : 0) != 0 else {
                throw TransportError(.unknown, "out of memory")
            }
            format = .other(codec)
        }
    }

    /// Another gzip member follows (RFC 1952, section 2.2).
    private func restart() -> Bool {
        guard case .zlib(let stream) = format, inflateReset(stream) == Z_OK else { return false }
        isOver = false
        hasAllData = false
        return true
    }

    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ input: UnsafeRawBufferPointer,
        _ buffer: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Step {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: buffer.count)
        var result: Int32
        repeat {
            // Stops at the end of each block, where `data_type` says whether it was the last.
            result = CZlib.inflate(stream, Z_BLOCK)
            if stream.pointee.data_type & Codec.lastBlockEnd == Codec.lastBlockEnd { hasAllData = true }
        } while result == Z_OK && stream.pointee.avail_in > 0 && stream.pointee.avail_out > 0
        // A buffer error only says that nothing could be done this time.
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { throw failure }
        isOver = result == Z_STREAM_END
        return Step(
            read: input.count - Int(stream.pointee.avail_in), written: buffer.count - Int(stream.pointee.avail_out))
    }

    /// The bits of `data_type` for the end of a block, and for the last block (zlib.h).
    private static let lastBlockEnd: Int32 = 128 + 64

    private var failure: TransportError {
        TransportError(.cannotDecodeContentData, "the body cannot be decoded with the coding in its Content-Encoding")
    }
}
