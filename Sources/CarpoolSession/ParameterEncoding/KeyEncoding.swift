extension URLEncodedFormEncoder {
    /// How names are converted (FE-11): once, the whole composed name, brackets and dots included.
    public enum KeyEncoding: Sendable {
        /// Unchanged.
        case useDefaultKeys
        /// `oneTwo` to `one_two`
        case snakeCase
        /// `oneTwo` to `one-two`
        case kebabCase
        /// `oneTwo` to `OneTwo`: the first character only.
        case capitalized
        /// `oneTwo` to `ONETWO`
        case uppercased
        /// `oneTwo` to `onetwo`
        case lowercased
        /// By the closure.
        case custom(@Sendable (String) -> String)

        /// The converted name.
        public func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .snakeCase: KeyEncoding.words(of: key).joined(separator: "_")
            case .kebabCase: KeyEncoding.words(of: key).joined(separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let convert): convert(key)
            }
        }

        /// The words of a name in camel case, in lower case.
        ///
        /// A capital begins a word, unless it is the first character. Of several capitals in a row the last one begins
        /// the next word if a small letter follows (`myURLProperty`: my, url, property). The first letter of an acronym
        /// at the beginning becomes a word of its own (`URLProperty`: u, rl, property); that is the model's result, and
        /// clients rely on its spelling.
        static func words(of key: String) -> [String] {
            let scalars = Array(key.unicodeScalars)
            var words: [ArraySlice<Unicode.Scalar>] = []
            var start = 0
            var position = 1
            while let upper = scalars.dropFirst(position).firstIndex(where: \.isUppercaseLetter) {
                words.append(scalars[start..<upper])
                start = upper
                guard let lower = scalars.dropFirst(upper).firstIndex(where: \.isLowercaseLetter) else { break }
                start = lower - 1
                if start > upper { words.append(scalars[upper..<start]) }
                position = lower + 1
            }
            words.append(scalars[start...])
            return words.map { word in
                var text = String.UnicodeScalarView()
                text.append(contentsOf: word)
                return String(text).lowercased()
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isUppercaseLetter: Bool {
        properties.generalCategory == .uppercaseLetter || properties.generalCategory == .titlecaseLetter
    }

    fileprivate var isLowercaseLetter: Bool { properties.generalCategory == .lowercaseLetter }
}
