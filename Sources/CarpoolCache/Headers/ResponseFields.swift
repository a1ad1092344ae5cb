internal import CarpoolHTTP

/// What the fields of a response say to a cache.
struct ResponseFields {
    /// The directives.
    private(set) var control = CacheControl()
    /// Whether there is an `Expires`, valid or not.
    private(set) var hasExpires = false
    /// The time in `Expires`, in seconds; `nil` without a valid one.
    private(set) var expires: Int64?
    /// The time in `Date`, in seconds; `nil` without a valid one.
    private(set) var date: Int64?
    /// The seconds in `Age`; 0 without valid ones.
    private(set) var age: Int64 = 0
    /// The time in `Last-Modified`, in seconds; `nil` without a valid one.
    private(set) var lastModified: Int64?
    /// The value of `Last-Modified`; `nil` without one, or with several that differ.
    private(set) var lastModifiedValue: [UInt8]?
    /// The entity tag; `nil` without one, or with several that differ.
    private(set) var entityTag: EntityTag?
    /// Whether there are several entity tags or dates of the last change that differ.
    private(set) var hasValidatorConflict = false
    /// Whether the content is encoded.
    private(set) var isEncoded = false
    /// Whether the content is JSON.
    private(set) var isJSON = false
    private var hasTag = false
    private var hasLastModified = false
    private var hasDate = false
    private var hasAge = false

    /// Reads them.
    /// - Parameter now: the wall clock in seconds, for years of two digits.
    init(_ fields: FieldBlock, near now: Int64) {
        fields.forEach { name, value in read(name, value, near: now) }
    }

    /// Whether an origin can be asked whether the response is still valid.
    var hasValidator: Bool { entityTag != nil || lastModifiedValue != nil }

    /// Only names of the right length are compared.
    private mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, near now: Int64) {
        switch name.count {
        case 3 where FieldBytes.matches(name, "age"): readAge(value)
        case 4 where FieldBytes.matches(name, "date"):
            // Of several, none is trusted.
            date = hasDate ? nil : HTTPDate.seconds(value, near: now)
            hasDate = true
        case 4 where FieldBytes.matches(name, "etag"):
            let tag = EntityTag(Array(value))
            if hasTag, tag != entityTag { hasValidatorConflict = true }
            entityTag = hasTag && tag != entityTag ? nil : tag
            hasTag = true
        case 7 where FieldBytes.matches(name, "expires"):
            expires = hasExpires ? nil : HTTPDate.seconds(value, near: now)
            hasExpires = true
        case 12 where FieldBytes.matches(name, "content-type"):
            isJSON = FieldBytes.matches(UnsafeRawBufferPointer(rebasing: value.prefix(16)), "application/json")
        case 13 where FieldBytes.matches(name, "cache-control"): control.add(value)
        case 13 where FieldBytes.matches(name, "last-modified"):
            guard hasLastModified else {
                hasLastModified = true
                lastModifiedValue = Array(value)
                return lastModified = HTTPDate.seconds(value, near: now)
            }
            guard lastModifiedValue.map({ $0.elementsEqual(value) }) != true else { return }
            (lastModifiedValue, lastModified, hasValidatorConflict) = (nil, nil, true)
        case 16 where FieldBytes.matches(name, "content-encoding"): isEncoded = true
        default: break
        }
    }

    /// The first member of the first line counts.
    private mutating func readAge(_ value: UnsafeRawBufferPointer) {
        guard !hasAge else { return }
        hasAge = true
        let end = value.firstIndex(of: UInt8(ascii: ",")) ?? value.count
        let member = FieldBytes.trimmed(UnsafeRawBufferPointer(rebasing: value[..<end]))
        age = DeltaSeconds.number(member, maximum: DeltaSeconds.maximum) ?? 0
    }
}
