internal import CarpoolJSON

/// Why a value cannot be encoded; the cause inside the errors of the encoders.
struct EncodingFailure: Error {
    let name: String
    let message: String
    var hint: String?

    var sessionError: SessionError { SessionError(name, message, hint: hint) }

    /// The result of a program's own closure; an error that it throws becomes the cause.
    static func catching(_ body: () throws -> String) throws(EncodingFailure) -> String {
        do { return try body() } catch {
            let cause = error as? SessionError ?? SessionError(thrown: error)
            throw EncodingFailure(name: cause.name, message: cause.message, hint: cause.hint)
        }
    }

    static let invalidRootObject = EncodingFailure(
        name: "invalid_root_object", message: "a form is encoded from an object, not from an array or a single value",
        hint: "pass parameters as an object, or encode them as json")

    static func invalidDate(_ seconds: Double) -> EncodingFailure {
        EncodingFailure(
            name: "invalid_date", message: "\(seconds) seconds since 1970 are outside the years 0 to 9999",
            hint: "send it as seconds_since_1970")
    }

    static func invalidNumber(_ text: String) -> EncodingFailure {
        EncodingFailure(name: "invalid_number", message: "not a decimal number: \(text.prefix(40))")
    }

    static func tooLarge(_ maximumBytes: Int) -> EncodingFailure {
        EncodingFailure(
            name: "too_large", message: "the parameters have more than \(maximumBytes) bytes of names and values",
            hint: "shorten the names: the name of an array is repeated for each of its elements")
    }

    static func invalidJSONObject(_ message: String) -> EncodingFailure {
        EncodingFailure(name: "invalid_json_object", message: message)
    }

    static func invalidPropertyList(_ message: String, hint: String? = nil) -> EncodingFailure {
        EncodingFailure(name: "invalid_property_list", message: message, hint: hint)
    }
}

extension [UInt8] {
    /// The bytes in base64 (RFC 4648, section 4).
    var base64: String {
        var output: [UInt8] = []
        output.reserveCapacity(Base64.encodedLength(of: count))
        withUnsafeBytes { Base64.encode($0, into: &output) }
        return String(decoding: output, as: UTF8.self)
    }
}
