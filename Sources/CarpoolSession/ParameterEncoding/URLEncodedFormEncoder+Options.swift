// The options of the encoder. Each closure returns text before percent-encoding.
extension URLEncodedFormEncoder {
    /// The order of the pairs.
    public enum Sort: String, Sendable, CaseIterable {
        /// By their percent-encoded text, at every level, elements of arrays included (FE-06). The model's order.
        case pairs
        /// The members of the outermost object by their names; arrays and objects inside as they are (PE-06).
        case keys
        /// As given.
        case given
    }

    /// How the elements of an array are named (FE-07). Omitted elements are not counted.
    public enum ArrayEncoding: Sendable {
        /// `k[]=1&k[]=2`
        case brackets
        /// `k=1&k=2`
        case noBrackets
        /// `k[0]=1&k[1]=2`
        case indexInBrackets
        /// `k=1,2`: commas between the elements, which are percent-encoded inside them. Elements that are arrays or
        /// objects cannot be joined; an array that has one is written with brackets.
        case comma
        /// The closure returns the name for an array's name and an index from 0.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// How booleans are written (FE-08). Numbers never become booleans.
    public enum BoolEncoding: String, Sendable, CaseIterable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// How bytes are written (FE-09).
    public enum DataEncoding: Sendable {
        /// As base64 (RFC 4648, section 4).
        case base64
        /// As an array of numbers.
        case deferredToData
        /// By the closure; an error that it throws fails the request.
        case custom(@Sendable ([UInt8]) throws -> String)
    }

    /// How points in time are written (FE-10).
    public enum DateEncoding: Sendable {
        /// Seconds since 2001-01-01T00:00:00Z, as a real.
        case deferredToDate
        /// Seconds since 1970-01-01T00:00:00Z, as a real.
        case secondsSince1970
        /// Milliseconds since 1970-01-01T00:00:00Z, as a real.
        case millisecondsSince1970
        /// `2001-01-01T00:00:00Z` (ISO 8601, RFC 3339), whole seconds, years 0 to 9999.
        case iso8601
        /// By a pattern, in UTC.
        case formatted(DateFormat)
        /// By the closure, for seconds since 1970-01-01T00:00:00Z; an error that it throws fails the request.
        case custom(@Sendable (Double) throws -> String)
    }

    /// How the name of a member follows the name of its object (FE-12).
    public enum KeyPathEncoding: Sendable {
        /// `a[b]`
        case brackets
        /// `a.b`
        case dots
        /// The closure returns the text after the object's name, for the member's name.
        case custom(@Sendable (String) -> String)

        func text(for name: String) -> String {
            switch self {
            case .brackets: "[\(name)]"
            case .dots: ".\(name)"
            case .custom(let convert): convert(name)
            }
        }
    }

    /// How null is written, inside arrays too (FE-13).
    public enum NilEncoding: Sendable {
        /// The pair is omitted.
        case dropKey
        /// `k=`
        case dropValue
        /// `k=null`
        case null
        /// By the closure; `nil` omits the pair.
        case custom(@Sendable () -> String?)

        var text: String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let make): make()
            }
        }
    }

    /// How a space is written, in names too (FE-14).
    public enum SpaceEncoding: String, Sendable, CaseIterable {
        /// `%20`
        case percentEscaped
        /// `+`, as in HTML forms.
        case plusReplaced
    }
}
