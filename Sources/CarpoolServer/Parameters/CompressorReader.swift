internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes a compressor of what a caller wrote under `compress`, which has passed its schema.
enum CompressorReader {
    /// `nil` means every default.
    static func read(_ json: JSON?, path: String) throws(RPCError) -> RequestCompressor {
        RequestCompressor(
            format: json?["format"]?.string.flatMap(RequestCompressor.Format.init(rawValue:)) ?? .deflate,
            duplicate: json?["duplicate"]?.string.flatMap(RequestCompressor.Duplicate.init(rawValue:)) ?? .error,
            minimumBytes: json?["min_bytes"]?.int ?? 0)
    }
}
