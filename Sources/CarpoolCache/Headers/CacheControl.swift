internal import CarpoolHTTP

/// The directives of `Cache-Control` (RFC 9111, section 5.2; RFC 5861; RFC 8246).
struct CacheControl: Sendable, Equatable {
    /// Directives without a value.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let noStore = Flags(rawValue: 1)
        static let noCache = Flags(rawValue: 2)
        static let isPublic = Flags(rawValue: 4)
        static let isPrivate = Flags(rawValue: 8)
        static let mustRevalidate = Flags(rawValue: 16)
        static let proxyRevalidate = Flags(rawValue: 32)
        static let mustUnderstand = Flags(rawValue: 64)
        static let immutable = Flags(rawValue: 128)
        static let onlyIfCached = Flags(rawValue: 256)
        /// `max-stale` without a limit.
        static let maxStale = Flags(rawValue: 512)
    }

    private(set) var flags: Flags = []
    private(set) var maxAge = DeltaSeconds.absent
    private(set) var sharedMaxAge = DeltaSeconds.absent
    private(set) var minFresh = DeltaSeconds.absent
    private(set) var maxStale = DeltaSeconds.absent
    private(set) var staleWhileRevalidate = DeltaSeconds.absent
    private(set) var staleIfError = DeltaSeconds.absent
    /// The fields that `no-cache` names, in lower case.
    private(set) var noCacheFields: Set<[UInt8]> = []
    /// The fields that `private` names, in lower case.
    private(set) var privateFields: Set<[UInt8]> = []

    /// The bytes of lines that are still read.
    private var bytesLeft = FieldBytes.maximumListBytes

    /// The most names that a directive is read with.
    private static let maximumNames = 64

    /// Makes it without directives.
    init() {}

    /// Reads the directives of a request.
    init(_ fields: [HTTPField]) {
        for field in fields where field.isNamed("cache-control") { field.withValue { add($0) } }
    }

    /// Whether it has the directive.
    func has(_ flag: Flags) -> Bool { flags.contains(flag) }

    /// Reads the directives of a line. More lines than are read may say anything, so nothing is stored because of them.
    mutating func add(_ line: UnsafeRawBufferPointer) {
        bytesLeft -= line.count
        guard bytesLeft >= 0 else {
            self = CacheControl()
            (bytesLeft, flags) = (0, .noStore)
            return
        }
        let isWhole = FieldBytes.forEachMember(of: line) {
            addDirective($0)
            return true
        }
        guard !isWhole else { return }
        // Readers differ on where the quoted string ends, so nothing in the line makes a response fresh.
        (maxAge, sharedMaxAge) = (.invalid, .invalid)
    }

    private mutating func addDirective(_ directive: UnsafeRawBufferPointer) {
        let equals = directive.firstIndex(of: UInt8(ascii: "="))
        let isSpaced = equals.map { $0 > 0 && FieldBytes.isBlank(directive[$0 - 1]) } ?? false
        let name = FieldBytes.trimmed(UnsafeRawBufferPointer(rebasing: directive[..<(equals ?? directive.count)]))
        let value = equals.map { UnsafeRawBufferPointer(rebasing: directive[($0 + 1)...]) }
        if let flag = CacheControl.flag(name) {
            addFlag(flag, value)
            return
        }
        // Compared by length first, as most of those that are not known are extensions.
        guard let path = CacheControl.number(name) else { return }
        if path == \.maxStale, value == nil {
            flags.insert(.maxStale)
        } else {
            self[keyPath: path].add(isSpaced ? .invalid : CacheControl.seconds(value))
        }
    }

    private mutating func addFlag(_ flag: Flags, _ value: UnsafeRawBufferPointer?) {
        guard flag == .noCache || flag == .isPrivate, let value else {
            flags.insert(flag)
            (noCacheFields, privateFields) = (has(.noCache) ? [] : noCacheFields, has(.isPrivate) ? [] : privateFields)
            return
        }
        guard !has(flag) else { return }
        var names: Set<[UInt8]> = []
        var isShort = true
        FieldBytes.forEachMember(of: CacheControl.unquoted(value)) { name in
            isShort = names.count < CacheControl.maximumNames
            if isShort { names.insert(name.map(FieldBytes.lowered)) }
            return isShort
        }
        let all = (flag == .noCache ? noCacheFields : privateFields).union(names)
        // The directive without names is the stricter one.
        let isWhole = names.isEmpty || !isShort || all.count > CacheControl.maximumNames
        if isWhole { flags.insert(flag) }
        if flag == .noCache { noCacheFields = isWhole ? [] : all } else { privateFields = isWhole ? [] : all }
    }

    private static func flag(_ name: UnsafeRawBufferPointer) -> Flags? {
        switch name.count {
        case 6 where FieldBytes.matches(name, "public"): .isPublic
        case 7 where FieldBytes.matches(name, "private"): .isPrivate
        case 8 where FieldBytes.matches(name, "no-cache"): .noCache
        case 8 where FieldBytes.matches(name, "no-store"): .noStore
        case 9 where FieldBytes.matches(name, "immutable"): .immutable
        case 14 where FieldBytes.matches(name, "only-if-cached"): .onlyIfCached
        case 15 where FieldBytes.matches(name, "must-revalidate"): .mustRevalidate
        case 15 where FieldBytes.matches(name, "must-understand"): .mustUnderstand
        case 16 where FieldBytes.matches(name, "proxy-revalidate"): .proxyRevalidate
        default: nil
        }
    }

    private static func number(_ name: UnsafeRawBufferPointer) -> WritableKeyPath<CacheControl, DeltaSeconds>? {
        switch name.count {
        case 7 where FieldBytes.matches(name, "max-age"): \.maxAge
        case 8 where FieldBytes.matches(name, "s-maxage"): \.sharedMaxAge
        case 9 where FieldBytes.matches(name, "min-fresh"): \.minFresh
        case 9 where FieldBytes.matches(name, "max-stale"): \.maxStale
        case 14 where FieldBytes.matches(name, "stale-if-error"): \.staleIfError
        case 22 where FieldBytes.matches(name, "stale-while-revalidate"): \.staleWhileRevalidate
        default: nil
        }
    }

    private static func seconds(_ value: UnsafeRawBufferPointer?) -> DeltaSeconds {
        value.map { DeltaSeconds(unquoted($0)) } ?? .invalid
    }

    /// What a quoted string holds; anything else as it is.
    private static func unquoted(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let mark = UInt8(ascii: "\"")
        guard value.count >= 2, value.first == mark, value.last == mark else { return value }
        return UnsafeRawBufferPointer(rebasing: value[1..<(value.count - 1)])
    }
}
