-- What parameters of statements hold, by name. A name that means something else in another file has its type there.
-- parameters: i64
added_at_ms additions after_key after_major after_minor after_session_key answered_at_ms at_ms attempt batch
before_key before_listed_ms before_ms before_version block bytes changed_at_ms chunk claimed_at_ms created_at_ms
cursor_sequence decision deleted_at_ms deletions deltas disabled_at_ms due_ms ended_at_ms except_kind expires_at_ms
fence followup_ms from_sequence heartbeat_at_ms horizon idle_timeout_ms last_used_at_ms lease_ms lease_over_ms
least_listed_ms limit listed_at_ms max_uses mode now_ms old_sequence outcome parent_key passive passive_taken
position priority purpose queue_mode queued_since_ms quorum revision revoked_at_ms role run saved_at_ms scopes
sequence session_key sessions sessions_max silent_since_ms since_ms source started_at_ms state status steady_ms
stored_expires_at_ms tenant_key to_sequence touched_at_ms turn turns unled_since_ms updated_at_ms use_count
used_at_ms version waiting_sequence
-- parameters: i64?
active_from_ms active_to_ms archived created_from_ms created_to_ms ended_by_ms interactive wanted_state
wanted_status
-- parameters: bool
active editable parents_only replaces runs shared_only
-- parameters: text
about actor after_1 after_2 agent answer answered_by arguments ask_id audited call_id completion_id content contents
created_by csrf definition details email entity_id external_id fields form id id_from id_prefix id_to keys
label_name label_value link_id metadata name name_1 name_2 node options owner parent_id participant password_hash
path pattern prefixes previous_path private_of prompt result session_id slug source_kind source_platform subject
summary task_id text thread_id token_id tool types updated_by user_id value visible_to votes worker workspace
-- parameters: bytes
arguments_hash except_hash fingerprint hash tail token_hash wrapped
-- parameters: session
session
