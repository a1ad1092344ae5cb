internal import CarpoolHTTP

/// The codes of URL errors (NSURLErrorDomain), and their names here: those of ``TransportError/Code`` and of
/// `session_task_failed.NAME`.
public enum URLErrorCode {
    /// The name of a code; `nil` for an unknown one.
    public static func name(_ number: Int) -> String? {
        table.first { $0.number == number }.map { "\($0.name)" }
    }

    /// The code of a name; `nil` for an unknown one.
    public static func number(_ name: String) -> Int? {
        table.first { $0.name.description == name }?.number
    }

    /// Every name.
    public static var names: [String] { table.map(\.name.description) }

    private static let table: [(number: Int, name: StaticString)] = [
        (-1, "unknown"), (-995, "background_session_requires_shared_container"),
        (-996, "background_session_in_use_by_another_process"), (-997, "background_session_was_disconnected"),
        (-999, "cancelled"), (-1_000, "bad_url"), (-1_001, "timed_out"), (-1_002, "unsupported_url"),
        (-1_003, "cannot_find_host"), (-1_004, "cannot_connect_to_host"), (-1_005, "network_connection_lost"),
        (-1_006, "dns_lookup_failed"), (-1_007, "http_too_many_redirects"), (-1_008, "resource_unavailable"),
        (-1_009, "not_connected_to_internet"), (-1_010, "redirect_to_non_existent_location"),
        (-1_011, "bad_server_response"), (-1_012, "user_cancelled_authentication"),
        (-1_013, "user_authentication_required"), (-1_014, "zero_byte_resource"), (-1_015, "cannot_decode_raw_data"),
        (-1_016, "cannot_decode_content_data"), (-1_017, "cannot_parse_response"),
        (-1_018, "international_roaming_off"), (-1_019, "call_is_active"), (-1_020, "data_not_allowed"),
        (-1_021, "request_body_stream_exhausted"), (-1_022, "app_transport_security_requires_secure_connection"),
        (-1_100, "file_does_not_exist"), (-1_101, "file_is_directory"), (-1_102, "no_permissions_to_read_file"),
        (-1_103, "data_length_exceeds_maximum"), (-1_200, "secure_connection_failed"),
        (-1_201, "server_certificate_has_bad_date"), (-1_202, "server_certificate_untrusted"),
        (-1_203, "server_certificate_has_unknown_root"), (-1_204, "server_certificate_not_yet_valid"),
        (-1_205, "client_certificate.rejected"), (-1_206, "client_certificate.required"),
        (-2_000, "cannot_load_from_network"), (-3_000, "cannot_create_file"), (-3_001, "cannot_open_file"),
        (-3_002, "cannot_close_file"), (-3_003, "cannot_write_to_file"), (-3_004, "cannot_remove_file"),
        (-3_005, "cannot_move_file"), (-3_006, "download_decoding_failed_mid_stream"),
        (-3_007, "download_decoding_failed_to_complete"),
    ]
}

extension SessionError {
    /// The URL error code of a network failure; `nil` for others. The code of a wrapped failure does not count.
    public var urlErrorCode: Int? {
        if let transport { return URLErrorCode.number(transport.code.rawValue) }
        // Network failures that the session itself detects, such as too many redirects.
        let network = "session_task_failed."
        return name.hasPrefix(network) ? URLErrorCode.number(String(name.dropFirst(network.count))) : nil
    }

    /// The failure that this one wraps. For a failed retry it is the retrier's error, not the original one.
    var underlying: SessionError? { cause("underlying") ?? cause("retry_error") }
}
