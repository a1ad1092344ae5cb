// Failures of ``RequestCompressor``; an adaptation that fails holds them as its cause.
extension SessionError {
    /// The request already has a field that the compressor would set (CO-04).
    static func duplicateHeader(_ name: String) -> SessionError {
        SessionError(
            "duplicate_header", "the request already has a \(name) field",
            hint: "remove the field, or set compress.duplicate to replace or skip",
            details: [Detail("header", .string(name))])
    }

    /// The body could not be compressed.
    static func compressionFailed(_ reason: String) -> SessionError {
        SessionError("compression_failed", "the body was not compressed: \(reason)")
    }
}
