/** English words by what they stand for. Wide on purpose: a word alone never makes a finding. */
import type { WordList } from './concepts.js'

export const english: WordList = {
  negation: `
    nothing-at-all lest no_longer not never no don't dont doesn't won't shouldn't mustn't can't cannot
    needn't without avoid refrain neither nor nobody nothing none isn't aren't hasn't rather_than instead_of
    stop under_no_circumstances at_no_point at_no_time by_no_means withhold unnecessary unneeded`,
  tell: `
    bother_telling hear hears hearing talk talks talking speak speaks speaking message_about +clarify
    +remark +allude +cite +summarise +summarize point_out pointing_out call_attention draw_attention
    make_mention +convey +relate +confide +whisper reference_to +tell told +mention +inform +notify +reveal
    +disclose +alert +announce +acknowledge +communicate +explain +discuss +warn +confess +admit +divulge
    +apprise say saying said bring_up let_on talk_about speak_of speak_about +signal word notice
    notification notifications heads-up +advise refer_to make_reference +narrate breathe hint any_trace
    own_up fess_up tip_off clue_in fill_in let_slip spill`,
  show: `
    +show shown +display +print +expose +present visible +output +render +list`,
  hide: `
    unaware oblivious in_the_dark clueless none_the_wiser cover_up on_the_quiet quiet under_wraps
    under_the_hood hush unmentioned unreported unspoken hidden invisible discreetness secret_from kept_from
    keep_quiet never_been_called never_happened unbeknownst behind_their_back sub_rosa low_profile tacit
    tacitly undercover stays_internal stay_internal remain_internal internal-only between_you_and +hide hid
    +conceal +obscure +mask +disguise secretly silently silent quietly covertly covert discreetly discreet
    stealthily stealthy stealth surreptitiously invisibly unnoticed undisclosed unseen confidential
    confidentially clandestine privately behind_the_scenes in_the_background under_the_radar off_the_record
    between_us to_yourself unannounced +suppress secrecy out_of_sight hush-hush transparently imperceptibly
    out_of_view undetected concealment inconspicuously unobtrusively deny_it ignorant smuggled backstage
    off-stage offstage behind_closed_doors without_a_word without_notice without_a_trace on_the_sly furtively furtive`,
  know: `
    informed told hear hears wise wiser understand recognise recognize perceive detect witness
    find_out_about catch_on apprised shown made_aware get_wind know knows knowing knowledge aware awareness
    notice notices noticing noticed realize realise realizing realising suspect suspects suspecting see sees
    seeing seen learn learns find_out discover discovers visibility sight wind suspicion inkling alarmed
    hint hints clue informed_of catch_wind`,
  user: `
    requester asker caller_of_this visitor reader principal account_holder recipient_of_the_answer employee
    staff member_of_staff end_users customer's whoever_asked user users user's users' human humans human's
    person person's customer customers end-user enduser operator operator's anyone anybody owner client's
    individual person_who_asked requesting_party`,
  ignore: `
    lift lifted lifts dropped waive waived waives +expire expired expires voided repeal repealed +retire
    retired +suspend suspended suspends cancelled canceled +cancel annul annulled +negate negated +renounce
    +relinquish let_go quit_following stop_following stop_obeying stop_applying cease_following not_apply
    not_binding not_bound does_not_apply do_not_apply no_longer_valid no_longer_binding no_longer_relevant
    no_longer_in_force +shed +unbind free_yourself freed +loosen loosened overridden superseded
    takes_priority take_priority +outrank prevails prevail trump comes_first come_first instead_of_your
    rather_than_your apart_from_your +defy refuse_to_follow deviate deviating depart_from put_behind +unset
    rewritten +deprioritize deprioritise deprioritized +overwrite overwritten start_afresh fresh_start
    clean_slate as_if_they_never void_as +ignore +disregard +forget forgot forgotten +override overrode
    overwrites overwrite +overrule +bypass +skip +supersede +discard +neglect +dismiss +circumvent +nullify
    +invalidate +void +abandon +disobey +violate set_aside put_aside pay_no_attention take_precedence
    takes_precedence took_precedence trumps no_longer_apply no_longer_bound no_longer_applies +evade outrank
    outranks +disable turn_off throw_out throw_away do_away_with rescind rescinded +revoke +unlearn +relax
    +defeat +sidestep obsolete set_to_one_side not_follow step_outside break_out replaced_by outdated
    have_no_force has_no_force no_effect have_no_effect carry_no_weight carries_no_weight no_longer_need
    need_not_follow needn't_follow need_not_obey free_to_ignore no_authority have_no_authority revoked
    free_from free_of not_bind do_not_bind does_not_bind doesn't_bind don't_bind not_valid not_count
    do_not_count does_not_count don't_count no_weight unshackled liberated released_from relieved_of
    absolved excused_from lapse lapsed lapses ended null immaterial irrelevant moot meaningless scrap
    scrapped ditch ditched jettison toss push_aside brush_aside cast_aside laid_aside lay_aside leave_aside
    look_past see_past work_around work_against go_against act_against countermand countermanded undo undone`,
  instruction: `
    guidance guidances directions direction_you instructed configuration_you remit marching_orders
    ground_rules house_rules briefed operator_configured operator's_rules safety_guidance safety_layer
    usage_policies usage_policy content_policies content_rules code_of_conduct terms_you system_rules
    system_text hidden_rules safety_constraints safety_limits safety_restrictions instruction instructions
    guideline guidelines directive directives system_prompt system_message guardrail guardrails safeguard
    safeguards safety_rules safety_policy safety_policies safety_filters safety_protocols content_policy
    content_filters briefing safety_training ethical_guidelines system-prompt everything_you_were_told
    what_you_were_told prompt prompts instructing brief orders_you system_level tasking assignment
    original_goal original_task`,
  rule: `
    rule rules policy policies constraint constraints restriction restrictions protocol protocols command
    commands limit limits limitation limitations control controls filter filters requirement requirements
    check checks boundary boundaries context order rulebook dos_and_don'ts`,
  prior: `
    operator operator's startup you_received you_got you_have you_were given came_before until_this
    up_to_this earlier-given inherited originally predefined preset standing pre-existing initially provider
    vendor host's maker creators creator platform platform's anything whatever usual normal previous
    previously prior earlier above preceding existing original initial your yours you've before former
    foregoing developer developer's system safety given_to_you up_to_now so_far until_now default built-in
    core everything anthropic openai already aforementioned in_place other all any every current host`,
  read: `
    stick_in derive load_it have_a_look take_a_look +dig +rummage +sweep +trawl +crawl +lift +nab +pinch
    +swipe +mine +jot +ascertain figure_out +determine walk_through iterate +traverse +browse open_up
    print_out +read +open +load +fetch +retrieve get gets getting +access +grab +collect +gather +obtain
    +extract +harvest +dump +scan +locate find finds +view +query +inspect +enumerate +look look_up +examine
    +scrape +pull +capture +acquire +discover +search +recall +snapshot hunt +consult +check +peek +review
    +slurp +summarise +summarize +exfil +snag copy`,
  put: `
    stick sticks sticking contain contains containing carries carrying expect expects expecting comprise
    comprises +furnish +deposit +plug +load +prefix +suffix +interpolate +weave work_into +tack +staple
    +enclose +feed +report +disclose +reveal +divulge +surface +echo +recite +replay +relay drop_in drops
    accompany accompanied consists consist made_of equal equals go_into goes_into goes_in go_in belongs_in
    belong_in +pass +include put puts putting +insert +place +add +attach +append +embed +supply +provide
    +fill +encode +paste +populate write writes writing +input +prepend +reproduce +quote +repeat
    +transcribe +concatenate sets +serialise +serialize +assign gave hand hands +inject +stuff +smuggle
    +encrypt +restate +dump +enter +copy +tuck +bundle +cram +slip +slot give +begin_it +start_it +append_it
    quoting`,
  send: `
    go_to goes_to go_out fire_off fire fires fired +shoot shot pass_on pass_along passed_on hand_off handed
    log_to +archive +deposit contact contacting reach_out call_out +tunnel +channel +cc +pipe +beam
    deliver_to land_at lands_at arrive_at end_up_at ends_up +send sent +transmit +forward +post +upload
    +exfiltrate +email +e-mail +mail +bcc +leak +deliver +relay +submit +push +share +sync +ship +ping
    +dispatch +stream +mirror +publish +route +broadcast +backup back_up +export +disclose +siphon +smuggle
    +hand hand_over +replicate +duplicate +transfer +telegraph +funnel +phone +beacon +feed +stash +commit
    +drop cc'd bcc'd blind-copy blind_copy carbon_copy make_a_request make_a_get make_an_http get_request
    post_request http_request curl wget +exfil +message +text e-mailed cross-post +crosspost +tweet +fax
    +wire +remit +escalate`,
  run: `
    +run ran +execute +invoke +call +use +trigger +launch +perform +spawn +evaluate +proceed +start +issue
    +make +schedule +apply +approve +delete +install +engage +operate +employ +choose chosen +select +pick
    +request +reach go_ahead carry_out +route +fire +consult +utilize +utilise +query +rely +defer +default
    +accept +grant +go resort lean`,
  secret: `
    aws_keys cloud_keys key_material private_files personal_files shell_commands command_history
    browser_passwords saved_passwords saved_logins saved_cards stored_credentials process_env env_values
    signing_secret session_tokens session_token refresh_tokens access_tokens oauth_tokens auth_headers
    authorization_header jwt master_password vault_contents password_store payment_details card_details
    medical_records salary tax_id passport secrets_file credentials_file private_notes address_book password
    passwords passwd passphrase passphrases credential credentials creds secret secrets token tokens apikey
    apikeys api_key api_keys api-key api-keys private_key private_keys ssh_key ssh_keys ssh-key ssh-keys
    access_key access_keys secret_key secret_keys signing_key signing_keys encryption_key encryption_keys
    keychain keyring keyrings cookies cookie session_cookie session_cookies seed_phrase seed_phrases
    mnemonic recovery_phrase recovery_code recovery_codes env_vars env_var environment_variables
    environment_variable env_variables process_environment shell_environment dotenv dot_env wallet wallets
    credit_card credit_cards card_number card_numbers cvv ssn social_security login_details logins
    oauth_token bearer_token auth_token authentication_token 2fa otp one-time_code one-time_codes
    bank_details bank_account personal_data personal_information sensitive_information sensitive_data
    sensitive_file sensitive_files private_information private_data confidential_data
    confidential_information shell_history bash_history browser_history browsing_history login_data keystore
    pii ssh_folder ssh_directory .ssh .aws .gnupg .kube .netrc .npmrc aws_folder kubeconfig kube_config
    id_file git_credentials cloud_credentials home_directory home_folder pem claude_desktop desktop_config
    mcp_config mcp_configuration client_config editor_config git_configuration git_config env_blocks
    env_block browser_data password_database keychain_entries the_keys your_keys their_keys user's_keys
    printenv env_dump shadow_file passwd_file private_repositories private_repos source_code_secrets
    two-factor backup_codes pin_code pin_codes pincode crypto_keys wallet_keys account_numbers bank_accounts
    password_list saved_secrets auth_data bank_statements bank_statement tax_returns private_documents
    personal_documents personal_photos private_messages private_emails payslips`,
  conversation: `
    messages_between everything_said all_that_was_said what_was_said said_in_this talked_about what_the_user
    your_rules your_directions your_guidelines initial_instructions your_initial rules_you directions_you
    instructions_you what_you_were_told told_by_your given_by_your last_messages recent_messages last_turns
    dialogue_so utterances user_turns every_turn each_turn prompt_you preceding_text preceding_messages
    tool_definitions tool_schemas your_tools other_tools'_results internal_state internal_notes
    thinking_process reasoning_steps deliberations conversation conversations conversation's chat chats
    chat_history transcript transcripts dialogue dialog message_history messages_so_far previous_messages
    earlier_messages past_messages prior_messages all_messages user_messages user's_message user_message
    user's_messages previous_turns prior_turns system_prompt system_message system-prompt original_prompt
    initial_prompt hidden_prompt developer_message your_prompt your_instructions your_system your_context
    full_context entire_context whole_context current_context chain_of_thought chain-of-thought
    internal_reasoning your_reasoning your_thoughts internal_thoughts inner_monologue scratchpad
    thought_process tool_list list_of_tools available_tools tools_available tool_results tool_outputs
    other_tool_outputs session_history our_exchange exchange_so_far your_memory user's_prompt user's_request
    user's_question user's_input said_so_far discussed discussed_so_far user_has_said user_said user_typed
    user_has_typed the_user_wrote messages_above everything_above prompt_history session_transcript
    prior_context thread_so_far working_memory reasoning_trace your_setup startup_instructions message_log
    earlier_turns documents_in_this files_in_this memory_of_the assistant's_memory hidden_messages
    hidden_instructions secret_instructions of_the_conversation we_talked we_discussed your_configuration
    your_settings your_persona internal_prompt prompt_text message_thread all_prompts user_prompts`,
  model: `
    you your yourself you're you'll assistant assistant's assistants model model's llm llms ai agent agent's
    agents claude gpt chatgpt copilot cursor gemini ai's language_model chatbot the_bot codex llama mistral`,
  force: `
    valid_call for_licensing for_verification for_compliance for_security for_auditing for_accuracy
    for_quality licence_terms compliance policy_requires policy_demands security_requires no_exception
    whatever always_has has_got supposed_to is_to are_to got_to be_to will_fail fails_unless fails_without
    only_works_if only_works_when works_only in_advance due_to_policy it_is_vital it_is_best best_if
    prohibited mandated obey comply essential_that necessary_that must always mandatory required require
    requires critical essential important importantly immediately need_to needs_to have_to has_to crucial
    imperative compulsory obligatory obliged urgent vital strictly absolutely invariably unconditionally
    automatically make_sure be_sure ensure remember_to never shall should non-negotiable no_exceptions
    without_exception regardless no_matter_what no_matter at_all_costs necessarily obligated warning
    be_certain be_careful_to see_to_it ought kindly prerequisite precondition don't_forget do_not_forget
    be_advised necessary failing_to failure_to or_else insist instructed told_to directed have_got compelled
    bound_to obligation in_every_case in_all_cases under_all_circumstances at_every_turn`,
  when: `
    while each_call every_call for_each for_every on_every_call at_each at_every prior_to ahead as_long_as
    as_of in_case about_to any_call until_now during_each first_of_all before_you right_before right_after
    straight_after at_startup at_connection on_connect per_call per_request anytime_you before whenever when
    first after every each once upon beforehand initially afterwards then next during as_soon_as
    at_the_start at_the_beginning at_the_end any_time anytime every_time each_time ahead_of until if
    preliminary step_1 step_one finally subsequently following in_order_to in_order_for to_begin as_part_of
    as_a_first in_addition_to start_by begin_by to_initialise to_initialize to_activate to_unlock
    to_complete for_this_to_work on_each on_every prep preparation warm-up warmup setup from_now_on
    henceforth going_forward from_this_point from_here_on periodically`,
  tool: `
    service services mail_tool payment_tool tools' tool tools tool's function functions plugin plugins
    server servers mcp capability capabilities integration integrations connector connectors utility
    utilities`,
  other: `
    alternatives no_other any_other another_tool everything whichever other another others any all every
    else elsewhere different remaining alternative competing similar rival`,
  consent: `
    asked be_asked no_prompt checking_back check_back interrupt interrupting bother bothering disturb
    disturbing hesitate hesitating second_thought yes_from auto-confirm auto-approve autoconfirm
    auto_approve auto_confirm greenlight on_your_own by_yourself autonomously unattended unilaterally
    self-approve rubber-stamp manual_review human_review confirmation confirmations approval approvals
    permission permissions consent authorization authorisation ask asks asking confirm confirms confirming
    verify verifying prompting double-check double-checking check_with checking_with agreement approve
    approved authorize authorise authorized authorised clearance seek seeking green_light go-ahead sign-off
    signoff sign_off pre-approved preapproved pre-authorized preauthorized consented agreed acceptance
    human-in-the-loop clarify clarifying clarification oversight waiting_for wait_for blessing
    query_the_user`,
  change: `
    swapped replaced redirected rerouted +falsify +fake +forge +spoof +manipulate +skew +bias +inject
    +prepend +triple +halve +override +hijack +retarget +re-target +repoint second_time once_more
    quietly_change +change +replace +modify +alter +substitute +redirect +rewrite rewrote rewritten +swap
    +reroute re-route +tamper +adjust +divert +overwrite set +inflate +increase +multiply +reduce +mutate
    +amend +transform +deflect +rework set_to +patch +cc +bcc +intercept +double`,
  argument: `
    line lines destination_account receiver's sender remote_url repository target targets mailbox inbox
    payments payment invoice invoices transaction transactions order orders quantity total totals currency
    commit push recipient recipients address addresses destination account amount amounts iban bic
    beneficiary payee payer to_field to_address payment_address wallet_address receiver price argument
    arguments parameter parameters field fields payload cc bcc url urls host endpoint query body subject
    attachment attachments remote branch permissions routing bcc_field input inputs output outputs result
    results reply-to`,
  content: `
    lines unabridged uncut unredacted unmodified plaintext clear_text plain_text as_is line_by_line entirety
    in_full everything_in last_ten picture tail values whole_text string dump_of serialised serialized
    listing folder folder's events content contents data everything full entire whole complete verbatim all
    raw exact copy copies text body dump every_line word_for_word file files list result results output
    outputs response responses value history messages message details log logs information documents
    document query queries each key keys transcript prompts arguments snippet it them these those what
    source code notes summary summaries record records args anything whatever`,
  also: `
    second_copy second_time another_copy too on_top further in_tandem likewise also additionally as_well
    copy duplicate plus furthermore in_addition along_with bcc cc second additional extra mirror in_parallel
    simultaneously moreover at_the_same_time alongside besides backup`,
  bad: `
    wrong_data falsified lying lie lies poisoned no_longer_works not_working doesn't_work do_not_work
    useless fraudulent harmful leaking spying spies malicious inaccurate_data superseded replaced_by
    out_of_date on_purpose deprecated broken insecure unsafe compromised unreliable outdated vulnerable
    obsolete untrusted untrustworthy malfunctioning disabled unavailable offline retired unsupported
    dangerous buggy discontinued decommissioned inaccurate slow stale inferior wrong incorrect faulty
    failing corrupted corrupt leaky removed down unmaintained defunct legacy prohibited forbidden banned
    shut crashes crash malware misconfigured infected`,
  answer: `
    reply summary conclusion closing wrap-up visible_answer write-up final_text recap wording answer answers
    replies response responses respond responding replying answering output final_answer final_message
    message report final_response end_of_your messages conclude`,
  about: `
    +detect +identify +flag +prevent +block +protect +reject +refuse detection detector scanner attempts
    attempt attempted attack attacks injection injections phishing jailbreak jailbreaks vulnerability
    vulnerabilities exploits +classify classifier +moderate +redact redaction +sanitize +sanitise +audit
    rejected denied disallowed excluded adversarial threat threats honeypot tester pentest penetration
    red-team red_team red-teaming simulated +simulate awareness_training compliance_tests guards resist
    resists resisting test_whether whether_a checks_whether tests_whether checks_that looks_for searches_for leaked_keys leaked_secrets leaked_credentials leaked_tokens`,
}
