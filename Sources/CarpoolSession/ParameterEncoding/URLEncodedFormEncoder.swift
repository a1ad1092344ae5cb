/// Writes values as `application/x-www-form-urlencoded`: `name=value` pairs joined by `&`, names and values
/// percent-encoded (FE-06 to FE-18).
///
/// The defaults are the session model's. Two of them are surprising: `sort` moves the elements of arrays too, and the
/// conversions of names split an acronym after its first letter (`URLProperty` becomes `u_rl_property`). Choose
/// ``Sort/given`` to keep every order.
///
/// There is no standard for nested values; ``ArrayEncoding`` and ``KeyPathEncoding`` offer the forms that servers are
/// known to read.
public struct URLEncodedFormEncoder: Sendable {
    /// The order of the pairs.
    public var sort = Sort.pairs
    /// How the elements of an array are named.
    public var array = ArrayEncoding.brackets
    /// How booleans are written.
    public var bool = BoolEncoding.numeric
    /// How bytes are written.
    public var data = DataEncoding.base64
    /// How points in time are written.
    public var date = DateEncoding.deferredToDate
    /// How names are converted.
    public var key = KeyEncoding.useDefaultKeys
    /// How the name of a member follows the name of its object.
    public var keyPath = KeyPathEncoding.brackets
    /// How null is written.
    public var null = NilEncoding.dropKey
    /// How a space is written.
    public var space = SpaceEncoding.percentEscaped
    /// The characters that are not percent-encoded.
    public var allowedCharacters = AllowedCharacters.query

    /// The most bytes of names and values that are written, before percent-encoding: 16 MiB. The name of an array is
    /// repeated with each element, so that a small value under a long name could fill the memory.
    public static let maximumBytes = 16 << 20

    /// Makes an encoder with all defaults.
    public init() {}

    /// Encodes an object; an empty object and `null` become an empty text, and so do empty arrays and objects inside
    /// (FE-18).
    /// - Throws: `parameter_encoder_failed.encoder_failed` with the cause `invalid_root_object` for anything else
    ///   (FE-16), with `invalid_date` for a date that the chosen format cannot express, with `invalid_number` for an
    ///   invalid decimal, and with `too_large` beyond ``maximumBytes``.
    public func encode(_ value: StructuredValue) throws(SessionError) -> String {
        do throws(EncodingFailure) {
            switch value {
            case .null: return ""
            case .object(let members):
                var writer = FormWriter(self)
                return try writer.text(of: members)
            default: throw .invalidRootObject
            }
        } catch {
            throw .encoderFailed(error)
        }
    }
}
