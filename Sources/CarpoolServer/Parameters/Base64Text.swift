internal import CarpoolJSON
internal import CarpoolRPC

/// Base64 in what clients say.
enum Base64Text {
    private static let form = "base64 with padding (RFC 4648, section 4)"

    /// The bytes of a string in an answer.
    static func decode(_ json: JSON, path: String) throws(JSONError) -> [UInt8] {
        do throws(JSONError) { return try bytes(json) } catch {
            throw .refused(error.message, path: path, expected: form)
        }
    }

    /// The bytes of a string in a call.
    static func decode(_ json: JSON, at path: String) throws(RPCError) -> [UInt8] {
        do throws(JSONError) { return try bytes(json) } catch {
            throw .invalidParams(path: path, message: error.message, expected: form)
        }
    }

    private static func bytes(_ json: JSON) throws(JSONError) -> [UInt8] {
        try json.withUTF8 { (text) throws(JSONError) in try Base64.decode(text) } ?? []
    }
}
